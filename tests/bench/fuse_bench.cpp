// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reading and writing through the mount beside a file of tmpfs with the same bytes, sizes and
/// buffer, in turn. Printed are medians and ratios of medians. The server is a process of its own,
/// whose view lies in its memory, once shown (what is on this node) and once read (a copy more).
/// Before each round the page cache is empty of the file: it is a new view. Reads bring bytes into
/// one buffer of 1 MiB, as cat and dd do.

#include <dirent.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "agents/fuse/mount_point.h"
#include "ptc/base/median.h"
#include "tests/bench/machine.h"
#include "tests/folders.h"

namespace {

using tessera::UpperMedian;

constexpr std::int64_t kRows = 16384, kColumns = 4096;  // "w" has 256 MiB
constexpr std::size_t kBlock = 1 << 20;
constexpr int kRounds = 7;

double Seconds(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

/// The server process, which receives commands over pipes.
class Server {
 public:
  Server(const std::string& folder, const std::string& mesh) : folder_(folder) {
    std::array<int, 2> in{}, out{};
    if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) Die("no pipe");
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::execl(TESSERA_TEST_FOLDER "/tessera-fake-mount", "tessera-fake-mount", folder.c_str(),
              std::to_string(kRows).c_str(), std::to_string(kColumns).c_str(), mesh.c_str(),
              static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = ::fdopen(out[0], "r");
    if (const std::string said = Line(); said != "mounted") Die(said);
  }
  ~Server() {
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
    std::fclose(from_);
    ::close(to_);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string Tell(const std::string& line) {
    const std::string text = line + "\n";
    if (::write(to_, text.data(), text.size()) < 0) Die("the server is gone");
    return Line();
  }
  double Cpu() { return std::stod(Tell("cpu")); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string Line() {
    std::array<char, 512> text{};
    if (std::fgets(text.data(), text.size(), from_) == nullptr) Die("the server is gone");
    return {text.data(), std::strcspn(text.data(), "\n")};
  }
  std::string folder_;
  pid_t child_ = 0;
  int to_ = -1;
  FILE* from_ = nullptr;
};

struct AlignedBlock {
  char* data = static_cast<char*>(std::aligned_alloc(4096, kBlock));
  AlignedBlock() { std::memset(data, 1, kBlock); }
  ~AlignedBlock() { std::free(data); }
  AlignedBlock(const AlignedBlock&) = delete;
  AlignedBlock& operator=(const AlignedBlock&) = delete;
};

int OpenOrDie(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (file < 0) Die("cannot open " + path);
  return file;
}

/// Reads [begin, end) of an open file.
void ReadThrough(int file, std::int64_t begin, std::int64_t end) {
  const AlignedBlock block;
  while (begin < end) {
    const ssize_t n = ::pread(file, block.data, kBlock, begin);
    if (n <= 0) Die("a read failed");
    begin += n;
  }
}

/// Bytes a second of `readers` that each read their own share of a file.
double Rate(int file, std::int64_t size, int readers) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::jthread> threads;
  const std::int64_t share = size / readers / std::int64_t{kBlock} * std::int64_t{kBlock};
  for (int r = 1; r < readers; ++r) {
    threads.emplace_back([=] { ReadThrough(file, (r - 1) * share, r * share); });
  }
  ReadThrough(file, (readers - 1) * share, size);
  threads.clear();
  return static_cast<double>(size) / Seconds(begin);
}

struct Figures {
  std::vector<double> tmpfs, cached, again, direct, two, row, cpu;
};

/// The size of an open file.
std::int64_t SizeOf(int file) {
  struct stat status {};
  ::fstat(file, &status);
  return status.st_size;
}

void Round(Server& server, const std::string& copy, Figures& figures) {
  const std::string path = server.Path("jobs/a/full/model.safetensors");
  server.Tell("step 1");  // another view, nothing of it in the page cache
  const auto measured = [&](int flags, int readers, std::vector<double>& rates) {
    const int file = OpenOrDie(path, flags);
    rates.push_back(Rate(file, SizeOf(file), readers));
    ::close(file);
  };
  // The state is made at its first touch, which is no part of a read. What holds the view open
  // keeps inode and page cache, so each kind of read gets a view of its own.
  const auto fresh = [&] {
    server.Tell("step 1");
    const int file = OpenOrDie(path, O_DIRECT);
    ReadThrough(file, SizeOf(file) - 4096, SizeOf(file));
    return file;
  };
  {
    const int file = OpenOrDie(copy, 0);
    figures.tmpfs.push_back(Rate(file, SizeOf(file), 1));
    ::close(file);
  }
  int held = fresh();
  const double before = server.Cpu();
  measured(0, 1, figures.cached);
  figures.cpu.push_back((server.Cpu() - before) / (static_cast<double>(SizeOf(held)) / 1e9));
  measured(0, 1, figures.again);
  ::close(held);
  held = fresh();
  measured(O_DIRECT, 1, figures.direct);
  ::close(held);
  held = fresh();
  measured(0, 2, figures.two);
  ::close(held);
  held = fresh();
  const int file = OpenOrDie(path, 0);
  const AlignedBlock block;
  ::posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
  const auto begin = std::chrono::steady_clock::now();
  if (::pread(file, block.data, kColumns * 4, SizeOf(file) / 2) != kColumns * 4) Die("no row");
  figures.row.push_back(Seconds(begin));
  ::close(file);
  ::close(held);
}

/// Writes 256 MiB of a file from memory and closes it.
/// \return bytes a second, that included
double WriteRate(const std::string& path, const std::vector<char>& bytes) {
  const auto begin = std::chrono::steady_clock::now();
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) Die("cannot make " + path);
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::write(file, bytes.data() + at, std::min(kBlock, bytes.size() - at));
    if (n <= 0) Die("a write failed");
    at += static_cast<std::size_t>(n);
  }
  if (::close(file) != 0) Die("what was written is not right");
  const double rate = static_cast<double>(bytes.size()) / Seconds(begin);
  ::unlink(path.c_str());
  return rate;
}

/// A rank's file, handed in but for the others that it would take.
void Writes(Server& server, const std::string& copy) {
  const std::string path = server.Path("jobs/a/ranks/0/model.safetensors");
  const int file = OpenOrDie(path, 0);
  std::vector<char> bytes(static_cast<std::size_t>(SizeOf(file)));
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::pread(file, bytes.data() + at, kBlock, static_cast<off_t>(at));
    if (n <= 0) Die("a read failed");
    at += static_cast<std::size_t>(n);
  }
  ::close(file);
  std::vector<double> mount, tmpfs, cpu;
  for (int round = 0; round < kRounds; ++round) {
    tmpfs.push_back(WriteRate(copy + ".written", bytes));
    const double before = server.Cpu();
    mount.push_back(WriteRate(path + ".new", bytes));
    cpu.push_back((server.Cpu() - before) / (static_cast<double>(bytes.size()) / 1e9));
  }
  std::printf("%-6s %-34s %7.2f GB/s  %5.2f x tmpfs  (>= 1.5 GB/s)\n", "",
              "hand-in, with its checks", UpperMedian(mount) / 1e9,
              UpperMedian(mount) / UpperMedian(tmpfs));
  std::printf("%-6s %-34s %7.3f s a GB\n", "", "CPU of the server", UpperMedian(cpu));
}

double ListSeconds(const std::string& folder, int expected) {
  const auto begin = std::chrono::steady_clock::now();
  DIR* open = ::opendir(folder.c_str());
  if (open == nullptr) Die("cannot list " + folder);
  int seen = 0;
  while (const dirent* entry = ::readdir(open)) {
    struct stat status {};
    if (::fstatat(::dirfd(open), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) ++seen;
  }
  ::closedir(open);
  if (seen != expected + 2) Die("a listing is not whole");
  return Seconds(begin);
}

void CopyFile(const std::string& from, const std::string& to) {
  const int in = OpenOrDie(from, 0);
  const int out = ::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const AlignedBlock block;
  for (ssize_t n = 0; (n = ::read(in, block.data, kBlock)) > 0;) {
    if (::write(out, block.data, static_cast<std::size_t>(n)) != n) Die("tmpfs is full");
  }
  ::close(in);
  ::close(out);
}

void Print(const char* what, const Figures& f) {
  const double tmpfs = UpperMedian(f.tmpfs), cached = UpperMedian(f.cached);
  const auto line = [&](const char* name, double rate, double ratio, const char* to) {
    std::printf("%-6s %-34s %7.2f GB/s  %5.2f x %s\n", what, name, rate / 1e9, ratio, to);
  };
  line("tmpfs, one reader", tmpfs, 1, "tmpfs");
  line("through the page cache", cached, cached / tmpfs, "tmpfs  (>= 0.4 as root)");
  line("again, from the page cache", UpperMedian(f.again), UpperMedian(f.again) / tmpfs, "tmpfs");
  line("O_DIRECT", UpperMedian(f.direct), UpperMedian(f.direct) / tmpfs, "tmpfs  (>= 0.7)");
  line("two readers, page cache", UpperMedian(f.two), UpperMedian(f.two) / cached, "one  (>= 1.2)");
  std::printf("%-6s %-34s %7.3f ms    (<= 1 ms)\n", what, "one row of 16 KiB of 256 MiB",
              UpperMedian(f.row) * 1e3);
  std::printf("%-6s %-34s %7.3f s a GB\n", what, "CPU of the server", UpperMedian(f.cpu));
}

}  // namespace

int main() {
  if (const auto may = tessera::agents::CheckMayMount(false); !may) Die(may.error().ToString());
  std::string folder = "/dev/shm/tessera-fuse-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) Die("no folder in /dev/shm");
  const std::string point = folder + "/mount", copy = folder + "/copy";
  ::mkdir(point.c_str(), 0700);
  std::printf("reads through the mount beside tmpfs, %s\n", tessera::test::Machine().c_str());
  std::printf("a file of 256 MiB in blocks of 1 MiB, medians of %d rounds%s\n", kRounds,
              ::geteuid() == 0 ? ", as root" : "");
  {
    Server server(point, "tp=2 on 1x2");
    CopyFile(server.Path("jobs/a/full/model.safetensors"), copy);
    for (const bool direct : {true, false}) {
      server.Tell(direct ? "direct 1" : "direct 0");
      Figures figures;
      for (int round = 0; round < kRounds; ++round) Round(server, copy, figures);
      Print(direct ? "shown" : "read", figures);
    }
  }
  {
    Server server(point, "tp=1 on 1x1");
    Writes(server, copy);
  }
  {
    Server server(point, "dp=10000 on 1250x8");
    std::vector<double> seconds;
    for (int i = 0; i < 3; ++i) seconds.push_back(ListSeconds(server.Path("jobs/a/ranks"), 10000));
    std::printf("%-6s %-34s %7.3f s first, %.3f s again  (<= 0.5)\n", "",
                "10,000 entries and stat of each", seconds.front(), UpperMedian(seconds));
  }
  ::unlink(copy.c_str());
  ::rmdir(point.c_str());
  ::rmdir(folder.c_str());
  return 0;
}
