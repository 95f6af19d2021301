// SPDX-License-Identifier: MIT OR Apache-2.0
//
// C++ mix: std::string, std::map, std::vector, shared_ptr and exceptions.
// cppmix ROUNDS: each round builds a map of strings, copies it, erases half of
// it and throws through a few frames. Built with -DCOUNT it counts its own
// allocations in operator new.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <unordered_map>
#include <vector>

#ifdef COUNT
static unsigned long allocs;
void *operator new(std::size_t n)
{
    allocs++;
    if (void *p = std::malloc(n))
        return p;
    throw std::bad_alloc();
}
void operator delete(void *p) noexcept
{
    std::free(p);
}
void operator delete(void *p, std::size_t) noexcept
{
    std::free(p);
}
#endif

struct Node {
    std::string name;
    std::vector<std::shared_ptr<Node>> kids;
};

static std::shared_ptr<Node> tree(int depth, int fan, unsigned &seed)
{
    auto n = std::make_shared<Node>();
    n->name = "node-with-a-rather-long-name-" + std::to_string(seed++);
    if (depth > 0)
        for (int i = 0; i < fan; i++)
            n->kids.push_back(tree(depth - 1, fan, seed));
    return n;
}

static std::size_t weigh(const Node &n)
{
    std::size_t w = n.name.size();
    for (auto &k : n.kids)
        w += weigh(*k);
    if (w % 97 == 0)
        throw std::runtime_error("weight of " + n.name + " is a multiple of 97");
    return w;
}

static std::size_t round_of(unsigned &seed)
{
    std::map<std::string, std::string> m;
    std::unordered_map<std::string, std::vector<int>> u;
    for (int i = 0; i < 1000; i++) {
        std::string k = "key/" + std::to_string((seed * 2654435761u) >> 7) + "/with/some/length";
        m[k] = k + k;
        u[k.substr(0, 8)].push_back(i);
        seed++;
    }
    std::map<std::string, std::string> copy = m;
    bool odd = false;
    for (auto it = copy.begin(); it != copy.end(); odd = !odd)
        it = odd ? copy.erase(it) : std::next(it);
    std::ostringstream os;
    for (auto &kv : copy)
        os << kv.first << '=' << kv.second << '\n';
    std::size_t w = os.str().size();
    auto t = tree(5, 4, seed);
    try {
        w += weigh(*t);
    } catch (const std::exception &e) {
        w += std::string(e.what()).size();
    }
    return w + u.size();
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? std::atoi(argv[1]) : 300;
    unsigned seed = 1;
    std::size_t w = 0;
    auto t0 = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; i++)
        w += round_of(seed);
    double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    struct rusage ru;
    getrusage(RUSAGE_SELF, &ru);
#ifdef COUNT
    std::printf("cppmix: allocs=%lu ", allocs);
#else
    std::printf("cppmix: ");
#endif
    std::printf("secs=%.6f maxrss_kib=%ld check=%zu\n", s, ru.ru_maxrss, w);
}
