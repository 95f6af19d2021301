/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * interpreter: see interpreter.h.
 *
 * Which interpreter a trace is in, it has from its frame or its caller's trace: each frame and each trace
 * is looked at once.
 */
#include "analysis/interpreter.h"

#include <stdlib.h>
#include <string.h>

#include "tool/memory.h"

enum { INTERPRETER_NAMES = 4 };

/* A function by the beginning of its name, or a module by that of its file's. */
static const struct interpreter {
    const char *functions[INTERPRETER_NAMES];
    const char *module; /* NULL: none tells */
    const char *sentence;
} interpreters[] = {
    {{"_PyEval_EvalFrame", "PyEval_EvalFrame"},
     NULL,
     "Python: native frames only. PYTHONMALLOC=malloc makes each object a block; --maps shows pymalloc's "
     "arenas."},
    {{"v8::", "node::", "Builtins_"},
     NULL,
     "JavaScript (V8): native frames only. Objects of scripts are not malloc'ed; --maps shows their heap."},
    {{"JavaCalls::", "JavaThread::"},
     "libjvm.so",
     "Java: native frames only. Objects are not malloc'ed; --maps shows their heap."},
    {{"rb_vm_exec", "vm_exec", "ruby_exec_node"},
     "libruby",
     "Ruby: native frames only. Small objects lie in pages; --maps shows them."},
    {{"luaV_execute", "luaD_call", "lj_vm_", "lj_BC_"},
     "libluajit",
     "Lua: native frames only. --by function adds up what each of the interpreter's functions allocates."},
    {{"Perl_runops_", "perl_run", "perl_parse"},
     NULL,
     "Perl: native frames only. --by function adds up what each of the interpreter's functions allocates."},
    {{"execute_ex", "zend_execute", "php_execute_script"},
     NULL,
     "PHP: native frames only. USE_ZEND_ALLOC=0 makes each object a block."},
};

enum { INTERPRETER_COUNT = sizeof interpreters / sizeof *interpreters };

static bool interpreter_begins(const char *text, const char *with)
{
    return with != NULL && strncmp(text, with, strlen(with)) == 0;
}

/* Its number + 1; 0: none. */
static uint8_t interpreter_of_frame(const struct frame *f)
{
    size_t length;
    const char *name = frame_find_name(f->function, &length), *module = frame_basename(f->module);
    for (size_t i = 0; i < INTERPRETER_COUNT; i++) {
        bool is_one = interpreter_begins(module, interpreters[i].module);
        for (size_t k = 0; k < INTERPRETER_NAMES; k++)
            is_one = is_one || interpreter_begins(name, interpreters[i].functions[k]);
        if (is_one)
            return (uint8_t)(i + 1);
    }
    return 0;
}

static int interpreter_no_memory(struct err *err)
{
    return err_no_memory(err);
}

/* Of each trace; one that is called has a greater number than its caller. */
static uint8_t *interpreter_of_traces(const struct traces *c)
{
    uint8_t *of_frame = memory_new_zeroed(c->frames.count + 1, 1);
    uint8_t *of_trace = memory_new_zeroed(c->traces.count + 1, 1);
    for (size_t i = 0; of_frame != NULL && i < c->frames.count; i++)
        of_frame[i] = interpreter_of_frame(&c->frames.data[i]);
    for (size_t i = 1; of_frame != NULL && of_trace != NULL && i < c->traces.count; i++) {
        uint8_t own = of_frame[c->traces.data[i].frame];
        of_trace[i] = own != 0 ? own : of_trace[c->traces.data[i].parent];
    }
    if (of_frame == NULL) {
        free(of_trace);
        of_trace = NULL;
    }
    free(of_frame);
    return of_trace;
}

int interpreter_find(struct traces *c, const struct query_result *answer, const char **sentence,
                     struct err *err)
{
    VEC(uint32_t) stacks = {0};
    size_t counts[INTERPRETER_COUNT + 1] = {0};
    uint32_t trace;
    int code = 0;
    *sentence = NULL;
    for (size_t i = 0; i < answer->rows.count && code == 0; i++) {
        const struct query_row *row = &answer->rows.data[i];
        if (row->process != answer->peak_process)
            continue;
        code = traces_find(c, row->process, row->stack, &trace, err);
        if (code == 0 && trace != 0 && !vec_push(&stacks, trace))
            code = interpreter_no_memory(err);
    }
    uint8_t *of_trace = code != 0 ? NULL : interpreter_of_traces(c);
    if (code == 0 && of_trace == NULL)
        code = interpreter_no_memory(err);
    for (size_t i = 0; of_trace != NULL && i < stacks.count; i++)
        counts[of_trace[stacks.data[i]]]++;
    for (size_t i = 0; i < INTERPRETER_COUNT; i++)
        if (counts[i + 1] * 2 > stacks.count)
            *sentence = interpreters[i].sentence;
    free(of_trace);
    vec_release(&stacks);
    return code;
}
