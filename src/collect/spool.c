/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * spool: see spool.h.  The spool may be cut or damaged, and its program may have died at
 * any moment: what is whole is read, and what its checksums do not vouch for is named.  The rate of its stamps is measured now,
 * on this machine, which is right where the spool was made.
 */
#include "collect/spool.h"

#include "collect/image.h"
#include "collect/output.h"
#include "collect/seals.h"
#include "collect/timebase.h"
#include "collect/unhooked.h"
#include "collect/view.h"
#include "store/writer.h"
#include "tool/file.h"

#include <stddef.h>
#include <stdint.h>

bool spool_is_one(int fd)
{
    uint64_t magic = 0;
    size_t got = 0;
    return file_read_at(fd, &magic, sizeof magic, 0, &got) == 0 && got == sizeof magic &&
           magic == SEGMENT_MAGIC;
}

int spool_convert(int fd, const char *path, struct err *err)
{
    struct view view;
    struct wake_writer *writer = NULL;
    int code = view_open_spool(&view, fd, err);
    if (code != 0)
        return code;
    code = wake_writer_open(&writer, path, err);
    if (code != 0) {
        view_close(&view);
        return code;
    }
    struct seals seals;
    struct timebase time;
    bool is_read = seals_read(&seals, &view);
    timebase_init_past(&time, view.fixed.start_stamp, view.fixed.start_ns);
    uint64_t base = view.fixed.start_ns;
    struct image *m = !is_read ? NULL : image_new(&view, writer, &time, base, view.fixed.pid, 0, 0);
    if (m == NULL) {
        view_close(&view);
        (void)wake_writer_close(writer, 0, NULL);
        return err_set(err, ERR_MEMORY, "No memory to read the spool.");
    }
    seals_note(&seals, writer);
    if (view.head->unfollowed != 0)
        output_note_unfollowed(writer, view.head->unfollowed);
    m->drain.anomalies += seals.damaged + seals.is_head_damaged;
    struct image_end end;
    image_end(m, -1, false, true, false, 0, base, &end);
    unhooked_tell(writer, end.unhooked);
    return wake_writer_close(writer, 0, err);
}
