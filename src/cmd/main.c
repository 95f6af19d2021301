/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * main: the table of commands.
 */
#include "cmd/command.h"
#include "cmd/guess.h"
#include "tool/memory.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

const struct command command_list[] = {
    {"record", command_record, "run a program and record its heap",
     "usage: heapwake record [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
     "\n"
     "  -o FILE, --output FILE  name of the recording (default %e.%p.wake); %e program, %p process id,\n"
     "                          %t seconds since 1970, %n a free number, %h host, %j batch job,\n"
     "                          %r MPI rank, %% a percent sign.  Without %p, %n and %r one file holds\n"
     "                          the whole process tree.\n"
     "  --children yes|no       record the program's children too (default yes)\n"
     "  --symbols yes|no        look up names of functions at the end and put them into the file (default\n"
     "                          yes; Ctrl-C stops the search)\n"
     "  --embed-binaries        put the program and its libraries into the file too\n"
     "  -q, --quiet             no closing line\n"
     "  --log LEVEL             what is said meanwhile: trace, debug, info, warn (default) or error\n"
     "  --logfile FILE          where to, instead of standard error (HEAPWAKE_LOG, HEAPWAKE_LOGFILE)\n"
     "\n"
     "What is recorded; each has a variable, which is also heard with LD_PRELOAD alone:\n"
     "  --enabled yes|no        no: begin switched off, see 'heapwake help ctl' (HEAPWAKE_ENABLED=0)\n"
     "  --depth N               at most N frames of each stack, from both ends (HEAPWAKE_DEPTH)\n"
     "  --mmap yes|no           mappings too (default yes; HEAPWAKE_MMAP)\n"
     "  --map-usage[=MS]        sample which parts of memory are used, each second or every MS ms, and at\n"
     "                          each tag and report; holds up the program's mmap for as long as the\n"
     "                          kernel takes to list them (HEAPWAKE_MAP_USAGE)\n"
     "  --free-stacks           a stack with each free (HEAPWAKE_FREE_STACKS=1)\n"
     "  --precise-timestamps    a time of its own for each event (HEAPWAKE_PRECISE_TIMESTAMPS=1)\n"
     "  --zero-memory           the program gets memory that is all zero (HEAPWAKE_ZERO_MEMORY=1)\n"
     "  --pool SIZE             buffers between program and recorder (default 32M; HEAPWAKE_POOL)\n"
     "  --sigusr1 WHAT, --sigusr2 WHAT\n"
     "                          what the signal does: toggle, report or tag (HEAPWAKE_SIGUSR1,\n"
     "                          HEAPWAKE_SIGUSR2; default: it is the program's)\n"
     "\n"
     "For long runs; each has a variable too:\n"
     "  --cull                  leave blocks that live shorter than --cull-ms out of the events; totals\n"
     "                          stay exact (HEAPWAKE_CULL=1)\n"
     "  --cull-ms MS            that threshold (default 10000; HEAPWAKE_CULL_MS)\n"
     "  --cull-pending N        events that may wait for it (default 1048576, 64 bytes each;\n"
     "                          HEAPWAKE_CULL_PENDING)\n"
     "  --sample SIZE           record one block in so many bytes (512K); figures become estimates\n"
     "                          (HEAPWAKE_SAMPLE)\n"
     "  --rotate SIZE|DURATION  go on in another file (FILE.1, FILE.2, ...) from 1G or after 10min on;\n"
     "                          'heapwake report FILE.*' takes them together (HEAPWAKE_ROTATE)\n"
     "  --max-size SIZE         no more events once the file has this size; totals go on\n"
     "                          (HEAPWAKE_MAX_SIZE)\n"
     "\n"
     "The exit status is the program's own.\n",
     false},
    {"ctl", command_ctl, "switch, tag and report on a program while it is recorded",
     "usage: heapwake ctl PID COMMAND\n"
     "\n"
     "  enable, disable, toggle  recording on and off; blocks freed while it is off are known to be freed\n"
     "  tag NAME                 name this moment: report --at NAME, --since NAME, --until NAME\n"
     "  report [FILE]            write what has changed since the last report, bytes by stack; as\n"
     "                           PROGRAM-PID-SEQUENCE.memlog and .json beside the recording, or to FILE\n"
     "                           (JSON if it ends in .json)\n"
     "      --depth N            show and tell apart only the N innermost frames\n"
     "  status                   what is recorded, where to, how much so far\n"
     "  stop                     end the recording; the program runs on\n"
     "\n"
     "Acts at once, also when the program is idle.  Only the user who records, and root, may.\n",
     false},
    {"info", command_info, "say what a recording holds",
     "usage: heapwake info [--json] FILE\n"
     "\n"
     "  --json  the same as JSON\n",
     false},
    {"report", command_report, "say what leaks, what makes the peak, what churns, and who is to blame",
     "usage: heapwake report [OPTION...] FILE...\n"
     "\n"
     "Without options one screen; several recordings are taken together.  In depth, one or more of:\n"
     "  --leaks, --peak, --allocated, --calls, --temporary\n"
     "  --at TIME               what was live then: 1.5s, 30%, peak-rss or the name of a mark\n"
     "  --since TIME, --until TIME  how what is live has changed between two moments, by site and signed;\n"
     "                          with --depth N sites are told apart by their N innermost frames alone\n"
     "  --verdict               whether they grow without bound, are bounded, freed only at exit, made once\n"
     "  --details               how long blocks lived, how much larger they are than asked for, calls a "
     "second\n"
     "  --misuse                double frees, frees of what was never allocated, new with free\n"
     "  --advice                what could be saved: growth by realloc, temporaries, tiny blocks ...\n"
     "  --without FIELD~REGEX   the peak if these had not been allocated; FIELD: function, source, module\n"
     "  --earlier TIME          with --without: if they had been freed so much earlier\n"
     "  --histogram             how large blocks are and how long they live\n"
     "  --maps                  mappings: who made, cut and removed them, what is left; what of them was\n"
     "                          in memory, if recorded with --map-usage; filters are then about mappings\n"
     "  --sort peak-rss|size|time|address  the order of mappings; --reverse turns it round\n"
     "  --pools                 what pools of the program's own hold (heapwake.h)\n"
     "\n"
     "as a list of sites, or\n"
     "  --by function|line|module|file|thread|kind|process\n"
     "  --tree                  callers below the functions that allocate\n"
     "  --top-down              callees below the functions that call them\n"
     "  --callers F, --callees F  the same for one function\n"
     "\n"
     "  --worst rss|peak|leaked  of several recordings only the one with the most of it\n"
     "  -n N                    how many sites or groups (0 = all)\n"
     "  --threshold PERCENT     leave out what is less than this share of the total\n"
     "  --from TIME, --to TIME  only this stretch of the run\n"
     "  --pid PID               only this process\n"
     "  --where KEY=VALUE       only blocks (mappings) that are like this; 'heapwake help where' lists the "
     "keys\n"
     "  --include REGEX         only stacks in which a function, file or module matches\n"
     "  --exclude REGEX         no stacks in which one does\n"
     "  --wrapper FUNCTION      it passes malloc on, as xmalloc does: its callers are to blame\n"
     "  --suppressions FILE     leaks that are known, in LeakSanitizer's syntax\n"
     "  --no-built-in-suppressions  show what libc, the loader and libstdc++ keep as leaks too\n"
     "  --json                  the same as JSON\n",
     false},
    {"diff", command_diff, "say what changed between two recordings, or two moments of one",
     "usage: heapwake diff [OPTION...] BEFORE AFTER\n"
     "\n"
     "BEFORE and AFTER are recordings, or moments of one: FILE@1.5s, FILE@30%, FILE@NAME-OF-A-MARK.\n"
     "Sites are compared by what they hold at the peak and what they leak; else by one or more of\n"
     "  --leaks, --peak, --allocated, --calls, --temporary\n"
     "\n"
     "  -n N                    how many sites (0 = all)\n"
     "  --svg FILE              a flame graph too: red is more than before, green is less\n"
     "  --from TIME, --to TIME, --pid PID, --where KEY=VALUE\n"
     "                          what to look at: see 'heapwake help where'\n"
     "  --wrapper FUNCTION      it passes malloc on, as xmalloc does: its callers are to blame\n"
     "  --suppressions FILE     leaks that are known, in LeakSanitizer's syntax\n"
     "  --no-built-in-suppressions  compare what libc, the loader and libstdc++ keep too\n"
     "  --json                  the same as JSON\n",
     false},
    {"check", command_check, "hold a recording or a program against limits, for continuous integration",
     "usage: heapwake check [OPTION...] FILE\n"
     "       heapwake check [OPTION...] -- PROGRAM [ARGUMENT...]\n"
     "\n"
     "  --max-peak SIZE           most bytes that a process may hold at once\n"
     "  --max-leak SIZE           most bytes that may be left at the end, in all\n"
     "  --max-leak-per-site SIZE  the same for one site\n"
     "  --max-allocations N       most calls\n"
     "  --max-growth-vs BASE PERCENT  peak, leaks and calls may be so much more than in this recording\n"
     "  --config FILE             limits from a file (default: .heapwake.toml, where it is there)\n"
     "  --suppressions FILE       leaks that are known, in LeakSanitizer's syntax\n"
     "  --no-built-in-suppressions  what libc, the loader and libstdc++ keep are leaks too\n"
     "  --junit FILE              the outcome as JUnit's XML too\n"
     "  --markdown FILE           the outcome as Markdown too\n"
     "  -o FILE, --output FILE    keep the recording of the program\n"
     "  --json                    the outcome as JSON\n"
     "\n"
     "Exit status: 0 every limit was kept, 1 one was not or the program failed, 2 nothing can be said.\n",
     false},
    {"history", command_history, "say what happened at an address",
     "usage: heapwake history [--pid PID] [--json] FILE ADDRESS\n"
     "\n"
     "Every event that touched the address: blocks that covered it, with their stacks, their releases,\n"
     "releases of nothing known there, and mappings.\n"
     "\n"
     "  --pid PID  only this process\n"
     "  --json     the same as JSON\n",
     false},
    {"dump", command_dump, "print the events of a recording",
     "usage: heapwake dump [--tsv | --stacks] FILE\n"
     "\n"
     "  --tsv     one event a line: time_ns pid tid event address size stack kind usable,\n"
     "            tab-separated, after a header line; a realloc is a free and an alloc\n"
     "  --stacks  the stack below each allocation: function and line, or module+offset where they are\n"
     "            not known\n",
     false},
    {"verify", command_verify, "check a recording",
     "usage: heapwake verify FILE\n"
     "\n"
     "Reads every byte: checksums, order of events for each address, times, totals, losses.\n"
     "Exit status 1 and a sentence for each thing that is off.\n",
     false},
    {"strip", command_strip, "copy a recording without short-lived blocks",
     "usage: heapwake strip --threshold DURATION FILE -o OUT\n"
     "\n"
     "Blocks, and whole realloc chains, that lived shorter than DURATION (500ms, 10s) are not among the\n"
     "events of OUT. They are still counted: all totals, by site too, stay exact.\n",
     false},
    {"export", command_export, "write a recording in the format of another tool",
     "usage: heapwake export -f FORMAT [-o FILE] [--from TIME] [--to TIME] [--pid PID]\n"
     "                       [--where KEY=VALUE]... [--leaks|...] [--anonymize partial|full] RECORDING\n"
     "\n"
     "  -f FORMAT, --format FORMAT  callgrind csv dhat dot flamegraph folded gprof2dot heaptrack html\n"
     "                              json massif pdf perfetto pprof ps speedscope sqlite svg\n"
     "  -o FILE, --output FILE      default: standard output\n"
     "  --peak, --leaks, --allocated, --calls, --temporary\n"
     "                              what dot flamegraph folded gprof2dot pdf ps svg show; default: --peak\n"
     "  --anonymize partial|full    tokens instead of the program's own names, or of all\n"
     "  --from TIME, --to TIME, --pid PID, --where KEY=VALUE\n"
     "                              what to look at: see 'heapwake help where'\n",
     false},
    {"import", command_import, "make a recording of a file that another tool wrote",
     "usage: heapwake import [-f FORMAT] [-o FILE] [--symbols yes|no] [--sysroot DIR] [--debug-path A:B]\n"
     "                       [--max-blocks N] [-q] FILE\n"
     "\n"
     "  -f FORMAT, --format FORMAT  dhat gperftools heaptrack jemalloc massif memtraq mtrace pprof;\n"
     "                              default: as the file looks\n"
     "  -o FILE, --output FILE      name of the recording (default: that of the file with .wake)\n"
     "  --symbols yes|no            look up names of functions that the file has no names for (default yes)\n"
     "  --sysroot DIR               look for programs and libraries below DIR\n"
     "  --debug-path A:B            folders with debug files\n"
     "  --max-blocks N              make up so many blocks at most for a source that knows sums only\n"
     "                              (default 10000000)\n"
     "  -q, --quiet                 no closing line\n"
     "\n"
     "What the file could not tell is said on standard error, and kept in the recording\n"
     "('heapwake info' shows it).\n",
     false},
    {"symbolize", command_symbolize, "put names of functions into a recording",
     "usage: heapwake symbolize [OPTION...] FILE\n"
     "\n"
     "  --sysroot DIR     look for the recorded files below DIR\n"
     "  --debug-path A:B  folders with debug files\n"
     "  --maps FILE       a copy of the process's /proc/PID/maps, for addresses in no known file\n"
     "  --perf-map FILE   names of code that was made at run time (perf-PID.map)\n"
     "  --debuginfod      ask the servers of DEBUGINFOD_URLS\n"
     "  --embed-binaries  put the program and its libraries into the file too\n"
     "\n"
     "Says for each file that code came from how many addresses it has, how many of them have a name,\n"
     "and how many a line. What cannot be found now keeps the names it has.\n",
     false},
    {"extract", command_extract, "get the binaries out of a recording",
     "usage: heapwake extract [-C DIR] [--list] [--force] FILE\n"
     "\n"
     "  -C DIR   below this folder (default: the current one)\n"
     "  --list   only say what there is: length, build id, path\n"
     "  --force  replace files that are there\n",
     false},
    {"replay", command_replay, "do what the program did again, with other allocators",
     "usage: heapwake replay [OPTION...] FILE\n"
     "\n"
     "  --allocators A,B,...  glibc, jemalloc, tcmalloc, mimalloc, or files with a slash in their name\n"
     "                        (default: all four, as far as they are installed)\n"
     "  --process N           which process, as 'heapwake info' counts them (default: that with most "
     "events)\n"
     "  --pid PID             the same by its process id\n"
     "  --touch all|first|none  write to a byte of every page of each block, to its first byte, or to none\n"
     "                        (default all)\n"
     "  --runs N              play N times; the quickest counts\n"
     "  --json                the same as JSON\n"
     "\n"
     "Time in the allocator, peak RSS, and RSS for each byte that was live, side by side.\n",
     false},
    {"anonymize", command_anonymize, "make a recording without names, to be given to others",
     "usage: heapwake anonymize [--level partial|full] FILE -o NEW\n"
     "\n"
     "  -o NEW, --output NEW    name of the new recording\n"
     "  --level partial|full    tokens instead of the program's own names, or of all (default full)\n"
     "\n"
     "The new recording has every figure of the old one. Arguments and embedded binaries are left out.\n",
     false},
    {"merge", command_merge, "put several recordings into one",
     "usage: heapwake merge FILE... -o NEW\n"
     "\n"
     "  -o NEW, --output NEW  name of the new recording\n"
     "\n"
     "The new recording has all processes of the others, on one clock.\n",
     false},
    {"help", command_help, "say how a command is used", "usage: heapwake help [COMMAND]\n", false},
    {"version", command_version, "print the version", "usage: heapwake version\n", false},
    {"collect", command_collect, "collect for a program that was started with LD_PRELOAD alone",
     "usage: heapwake collect --fd N\n"
     "\n"
     "Started by the probe, not by people: descriptor N is a socket that says where to listen.\n",
     true},
    {NULL, NULL, NULL, NULL, false},
};

/* A process may come without its standard descriptors.  What we open must not
 * take their numbers, or our messages would land in it.  Nor must an answer
 * that nobody gets look like one that was given: what stands in for them cannot be
 * written to.  Close-on-exec: a program that we run still finds them closed. */
static void keep_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
}

/* An answer that was made with too little memory is none, whatever the command thinks of it.  The
 * status of `record` is the program's, and what a collector lacks is said in the recording. */
static int settle(const struct command *c, int status)
{
    if (c->run == command_record || c->run == command_collect || status != EXIT_DONE || !memory_has_failed())
        return status;
    command_say("There is too little memory for '%s'.", c->name);
    return c->run == command_check ? EXIT_USAGE : EXIT_FAILED;
}

int main(int argc, char **argv)
{
    keep_standard_descriptors();
    if (argc < 2)
        return command_misused("No command given; 'heapwake help' lists them.");
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        name = "version";
    const struct command *command = command_find(name);
    if (command == NULL)
        return guess_command(name, argv[2]);
    bool wants_help = argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0);
    if (wants_help)
        return command_print_help(command);
    return settle(command, command->run(argc - 1, argv + 1));
}
