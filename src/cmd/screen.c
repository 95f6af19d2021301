/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * screen: see screen.h.
 */
#include "cmd/screen.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { SCREEN_WIDTH = 80, SCREEN_WIDTH_MIN = 40, SCREEN_WIDTH_MAX = 160 };

static bool screen_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0')
            return strcasestr(value, "UTF-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return false;
}

void screen_init(struct page *page, struct strbuf *out)
{
    struct winsize size;
    *page = (struct page){out, SCREEN_WIDTH, colour_is_wanted(STDOUT_FILENO), screen_is_utf8()};
    if (isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) {
        page->width = size.ws_col < SCREEN_WIDTH_MIN ? SCREEN_WIDTH_MIN : size.ws_col;
        if (page->width > SCREEN_WIDTH_MAX)
            page->width = SCREEN_WIDTH_MAX;
    }
}
