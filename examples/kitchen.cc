// SPDX-License-Identifier: MIT OR Apache-2.0
//
// kitchen: a small program with three faults that a heap profiler should name.
//
//   file_receipt      leaks: every receipt is filed, none is ever thrown away
//   prepare_feast     makes the peak: all courses are cooked before one is served
//   chop_vegetables   churns: a block for each slice, gone a moment later
//
// serve_soup, which frees what it takes, is there to be innocent. At the end the
// program says what it did, so that a recording can be held against the truth.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace
{

constexpr int days = 30;
constexpr int guests_a_day = 40;
constexpr int courses = 24;
constexpr std::size_t course_bytes = 1 << 20;
constexpr int slices_a_day = 10000;
constexpr std::size_t slice_bytes = 48;

struct Receipt {
    int day;
    int guest;
    char text[112];
};

struct Truth {
    unsigned long leaked_blocks, leaked_bytes;
    unsigned long feast_bytes;
    unsigned long slices;
} truth;

// Somebody looks at the block: without this a compiler may leave out a new and its delete.
void taste(const void *block)
{
    asm volatile("" : : "r"(block) : "memory");
}

[[gnu::noinline]] void file_receipt(int day, int guest)
{
    // The drawer knows the newest only; the others are still there.
    static Receipt *drawer;
    drawer = new Receipt{day, guest, {}};
    std::snprintf(drawer->text, sizeof drawer->text, "day %d, guest %d: one soup", day, guest);
    truth.leaked_blocks++;
    truth.leaked_bytes += sizeof(Receipt);
}

[[gnu::noinline]] void serve_soup(int day, int guest)
{
    std::string soup = "tomato soup with basil, day " + std::to_string(day);
    soup += " for guest " + std::to_string(guest);
    file_receipt(day, guest);
}

[[gnu::noinline]] void chop_vegetables(int day)
{
    for (int i = 0; i < slices_a_day; i++) {
        std::unique_ptr<char[]> slice(new char[slice_bytes]);
        std::memset(slice.get(), day + i, slice_bytes);
        taste(slice.get());
        truth.slices++;
    }
}

[[gnu::noinline]] std::unique_ptr<char[]> cook_course(int number)
{
    std::unique_ptr<char[]> course(new char[course_bytes]);
    std::memset(course.get(), number, course_bytes);
    taste(course.get());
    truth.feast_bytes += course_bytes;
    return course;
}

[[gnu::noinline]] void prepare_feast()
{
    std::vector<std::unique_ptr<char[]>> table;
    for (int i = 0; i < courses; i++)
        table.push_back(cook_course(i));
}

void open_for_a_day(int day)
{
    chop_vegetables(day);
    for (int guest = 0; guest < guests_a_day; guest++)
        serve_soup(day, guest);
    if (day == days / 2)
        prepare_feast();
}

} // namespace

int main()
{
    for (int day = 0; day < days; day++)
        open_for_a_day(day);

    std::printf("file_receipt leaked %lu blocks, %lu bytes.\n", truth.leaked_blocks, truth.leaked_bytes);
    std::printf("prepare_feast held %lu bytes at the peak, in %d blocks.\n", truth.feast_bytes, courses);
    std::printf("chop_vegetables made %lu blocks of %zu bytes, each freed at once.\n", truth.slices,
                slice_bytes);
}
