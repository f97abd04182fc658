/* Pages that an emulator of programs pretends to have (qemu-aarch64 -p 65536), and what it cannot
 * do with them. */
#ifndef TESTS_SUPPORT_PAGES_H
#define TESTS_SUPPORT_PAGES_H

#include <stdbool.h>

/* Are this program's pages others than the kernel's? Then parts of them cannot be mapped for
 * writing, are not given back, and the C library does not find the main thread's stack. */
bool pages_are_pretended(void);

/* Ends the test that calls it, and says why. */
#define SKIP_WITH_PRETENDED_PAGES()                                          \
    do {                                                                     \
        if (pages_are_pretended()) {                                         \
            print_message("the emulator only pretends to have its pages\n"); \
            skip();                                                          \
        }                                                                    \
    } while (0)

#endif
