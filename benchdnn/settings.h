/* A driver's options as they stand: they stay until they are set again, across batch files too. */
#ifndef BENCHDNN_SETTINGS_H
#define BENCHDNN_SETTINGS_H

#include "benchdnn/driver.h"

struct settings;

/* Of the one driver of this run; options have their defaults. */
struct settings *settings_create(const struct driver *driver);
void settings_destroy(struct settings *settings);

/* Takes token if it is an option of the driver. Wrong values end the program with status 2. */
bool settings_parse(struct settings *settings, const char *token);

/* Runs a descriptor with every combination of the values that options have. Problems may wait to be
 * created together with others until settings_flush(). */
void settings_run(struct settings *settings, const char *descriptor);
void settings_flush(struct settings *settings);

/* Prints all options. */
void settings_help(const struct settings *settings);

/* Says what is wrong with token, which is no option, and which options read most like it. */
void settings_suggest(const struct settings *settings, const char *token);

#endif
