/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * sampling: see sampling.h.
 *
 * The distance to the next point is -ln(u) * rate for a random u between 0 and
 * 1. In whole numbers: floating point would leave its marks in the program's
 * status flags.
 */
#include "probe/sampling.h"

#include "probe/arch.h"
#include "probe/early.h"
#include "probe/environment.h"
#include "probe/life.h"
#include "probe/share.h"

#include "base/hash.h"

enum { SAMPLING_RATE_MAX_BITS = 40 };

uint64_t sampling_rate;
const struct filter *sampling_table;
intptr_t sampling_place;
static struct filter *sampling_warnings; /* the same table, a little earlier */
__thread struct sampling_thread tls_sampling __attribute__((tls_model("initial-exec")));

void sampling_init(void)
{
    sampling_rate = environment_size("HEAPWAKE_SAMPLE", 1, UINT64_C(1) << SAMPLING_RATE_MAX_BITS, 0);
}

/* A block that another thread takes out of the early pool meanwhile is seen here, or the thread sees the table. */
void sampling_begin(void)
{
    struct filter *table = share.head != NULL && sampling_rate != 0 ? share.filter : NULL;
    __atomic_store_n(&sampling_warnings, table, __ATOMIC_SEQ_CST);
    for (const unsigned char *at = early_pool; table != NULL && at < early_end(); at += EARLY_ALIGNMENT)
        filter_warn(table, (uint64_t)(uintptr_t)at);
    __atomic_store_n(&sampling_table, table, __ATOMIC_RELEASE);
    __atomic_store_n(&sampling_place, table == NULL ? 0 : sampling_place_of_left(), __ATOMIC_RELEASE);
}

void sampling_end(void)
{
    __atomic_store_n(&sampling_place, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&sampling_table, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&sampling_warnings, NULL, __ATOMIC_SEQ_CST);
}

void sampling_warn_of(const void *block)
{
    struct filter *table = __atomic_load_n(&sampling_warnings, __ATOMIC_SEQ_CST);
    if (table != NULL)
        filter_warn(table, (uint64_t)(uintptr_t)block);
}

void sampling_renew(void)
{
    tls_sampling = (struct sampling_thread){0};
}

static uint64_t sampling_random(void)
{
    uint64_t x = tls_sampling.seed;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    tls_sampling.seed = x;
    return hash_mix(x);
}

/* -log2(u) for u = random / 2^64, in units of 2^-24. The leading zeros are the whole part; of what is behind the leading
 * one, x in units of 2^-32, log2(1 + x) is x + x (1 - x) p(x), with p right to 7 in a million everywhere and to 6 in a
 * hundred million on average. */
static uint64_t sampling_log2(uint64_t random)
{
    static const int64_t p[] = {1901184765, -1187856971, 790707039, -417478697, 110343133};
    random |= 1;
    unsigned zeros = (unsigned)__builtin_clzll(random);
    const int64_t one = INT64_C(1) << 32, x = (int64_t)(random << zeros << 1 >> 32);
    int64_t sum = p[4];
    for (int i = 3; i >= 0; i--)
        sum = p[i] + sum * x / one;
    uint64_t log = (uint64_t)(x + x * (one - x) / one * sum / one);
    return ((uint64_t)(zeros + 1) << 24) - (log >> 8);
}

static uint64_t sampling_distance(void)
{
    const uint64_t ln2 = 0xb17218; /* in units of 2^-24 */
    uint64_t nats = sampling_log2(sampling_random()) * ln2 >> 24;
    const uint64_t low = sampling_rate & ((1u << 24) - 1);
    return (sampling_rate >> 24) * nats + (low * nats >> 24);
}

__attribute__((noinline)) bool sampling_draw(size_t size)
{
    if (tls_sampling.seed == 0) {
        uint64_t moment = share.stamp_kind == SEGMENT_STAMP_TSC ? arch_counter() : 0;
        tls_sampling.seed = hash_mix(moment ^ (uint64_t)(uintptr_t)&tls_sampling << 20 ^ life.pid) | 1;
        tls_sampling.left = sampling_distance();
        if (sampling_passes(size))
            return false;
    }
    tls_sampling.left = sampling_distance();
    return true;
}

void sampling_forget(void)
{
    if (tls_sampling.seed != 0)
        tls_sampling.left = sampling_distance();
}
