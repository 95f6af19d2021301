/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * allocator_names WAY: see liballocator_names.c.
 *
 * build: {build}/tests/workloads/liballocator_names.so -Wl,-rpath,{build}/tests/workloads
 */
int allocator_names(const char *way);

int main(int argc, char **argv)
{
    return allocator_names(argc > 1 ? argv[1] : "table");
}
