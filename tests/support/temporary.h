/* Folders for what a program writes. */
#ifndef TESTS_SUPPORT_TEMPORARY_H
#define TESTS_SUPPORT_TEMPORARY_H

#include <stddef.h>

/* All of these end the program if they fail, and are for one thread.
 *
 * The path of a new folder, $TMPDIR (or /tmp)/neoprene-NAME-…. It goes, with all that is in it,
 * when the process that made it ends by exit(). */
const char *temporary_folder(const char *name);

/* The same below another folder. */
const char *temporary_folder_in(const char *parent, const char *name);

/* The path of a file in a new folder; nobody has made it yet. */
const char *temporary_file(const char *name);

/* The descriptor of a new file of so many bytes, byte i being i % 251. */
int temporary_bytes(size_t bytes);

/* Writes a file below a folder, and the folders on the way. */
void temporary_put(const char *folder, const char *path, const char *text);

/* Now rather than at the end. */
void temporary_remove(const char *folder);

#endif
