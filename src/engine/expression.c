/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * expression: see expression.h.  The sentences are ours, since those of libc are in
 * another voice, and backslashes in them would be doubled on their way to a terminal.
 */
#include "engine/expression.h"

static const char *expression_fault(int code)
{
    switch (code) {
    case REG_EPAREN:
        return "a parenthesis has no other half";
    case REG_EBRACK:
        return "a [ has no ]";
    case REG_EBRACE:
        return "a { has no }";
    case REG_BADBR:
        return "what is between { and } is no number of times";
    case REG_BADRPT:
        return "there is nothing before a *, + or ? that could be repeated";
    case REG_EESCAPE:
        return "it ends in a backslash";
    case REG_ERANGE:
        return "a range in [ ] ends before it begins";
    case REG_ECTYPE:
        return "there is no class of characters of that name";
    case REG_ESUBREG:
        return "it refers to a group that it does not have";
    default:
        return "libc does not take it";
    }
}

int expression_compile(regex_t *to, const char *text, struct err *err)
{
    int code = regcomp(to, text, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return 0;
    if (code == REG_ESPACE)
        return err_no_memory(err);
    return err_set(err, ERR_USAGE, "'%.200s' is not a regular expression: %s.", text, expression_fault(code));
}
