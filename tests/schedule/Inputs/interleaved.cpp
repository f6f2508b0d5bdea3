// Threads made of single steps, for all_outcomes.py: POOL OUTCOMES THREAD...; a thread is words, each one step:
// "rV" reads variable V, "wVn" writes n to it, "aV" adds one to it, "lM" and "uM" take and give back lock M. What the
// threads read, and what the variables hold at the end, is a line that is added to OUTCOMES.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "../../record/Inputs/pool.h"

static std::atomic<int> variable[4];
static std::mutex mutex[2];

static std::string run(const char* words) {
  std::string read;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    int of = word[1] - '0';
    switch (word[0]) {
      case 'r':
        read += std::to_string(variable[of].load());
        break;
      case 'w':
        variable[of].store(word[2] - '0');
        break;
      case 'a':
        variable[of].fetch_add(1);
        break;
      case 'l':
        mutex[of].lock();
        break;
      case 'u':
        mutex[of].unlock();
        break;
    }
  }
  return read;
}

int main(int argc, char** argv) {
  auto* pool = static_cast<char*>(mapPool(argv[1], 4096));
  pool[0] = 1;
  std::vector<std::string> read(size_t(argc - 3));
  std::vector<std::thread> threads;
  for (int i = 3; i < argc; ++i) threads.emplace_back([&read, argv, i] { read[size_t(i - 3)] = run(argv[i]); });
  for (auto& t : threads) t.join();
  std::string line;
  for (const std::string& r : read) line += r + "|";
  for (auto& v : variable) line += std::to_string(v.load());
  line += "\n";
  int file = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0644);
  return write(file, line.data(), line.size()) == ssize_t(line.size()) ? 0 : 1;
}
