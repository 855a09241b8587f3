// SPDX-License-Identifier: Apache-2.0
/// \file
/// Serves a state in memory on a folder. Each line of stdin is a command with its value, which one line
/// answers.
///
///     tessera-fake-mount DIR ROWS COLUMNS MESH
///     step N | mesh TEXT | churn MS | direct 0|1 | pins | views | cpu | taken | quit

#include <sys/resource.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "agents/fuse/file_server.h"
#include "agents/fuse/mount_point.h"
#include "agents/fuse/serve.h"
#include "tests/engine/vfs/fake_sink.h"
#include "tests/engine/vfs/fake_source.h"

using namespace tessera;

namespace {

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

class Shell {
 public:
  Shell(std::shared_ptr<test::FakeSource> source, std::shared_ptr<test::FakeSink> sink,
        std::int64_t rows, std::int64_t columns)
      : source_(std::move(source)), sink_(std::move(sink)), rows_(rows), columns_(columns) {}

  /// \return false at the end
  bool Obey(const std::string& line) {
    const auto space = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, space);
    const std::string value = line.substr(std::min(space + 1, line.size()));
    if (word == "step") source_->Step("a", std::atoll(value.c_str()));
    if (word == "mesh") source_->Reconfigure("a", test::MatrixLayout(value, rows_, columns_));
    if (word == "direct") source_->SetDirect(value == "1");
    if (word == "churn") Churn(std::chrono::milliseconds(std::atoi(value.c_str())));
    std::string answer = "ok";
    if (word == "pins") answer = std::to_string(source_->num_pins());
    if (word == "views") answer = std::to_string(source_->num_views());
    if (word == "taken") answer = Taken();
    if (word == "cpu") answer = std::to_string(CpuSeconds());
    std::printf("%s\n", answer.c_str());
    std::fflush(stdout);
    return word != "quit";
  }

 private:
  /// The number of taken states, and the fault of the last one.
  std::string Taken() const {
    const auto verdicts = sink_->verdicts();
    return std::to_string(verdicts.size()) + (verdicts.empty() ? "" : " " + verdicts.back());
  }
  /// Even epochs are on two devices, odd ones on one.
  void Churn(std::chrono::milliseconds pause) {
    churn_ = std::jthread([this, pause](const std::stop_token& stop) {
      for (int i = 0; !stop.stop_requested(); ++i) {
        source_->Step("a");
        source_->Reconfigure(
            "a", test::MatrixLayout(i % 2 == 0 ? "tp=2 on 1x2" : "tp=1 on 1x1", rows_, columns_));
        std::this_thread::sleep_for(pause);
      }
    });
  }

  const std::shared_ptr<test::FakeSource> source_;
  const std::shared_ptr<test::FakeSink> sink_;
  const std::int64_t rows_;
  const std::int64_t columns_;
  std::jthread churn_;
};

int Fail(const Error& error) {
  std::printf("error: %s\n", error.ToString().c_str());
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  agents::EndSignals signals;
  const auto path = agents::MountPath(words[1]);
  if (!path) return Fail(path.error());
  if (const auto may = agents::CheckMayMount(false); !may) return Fail(may.error());
  const auto cleared = agents::RemoveStaleMounts(*path);
  if (!cleared) return Fail(cleared.error());
  if (const auto free = agents::CheckMountPoint(*path); !free) return Fail(free.error());
  const std::int64_t rows = std::atoll(words[2]), columns = std::atoll(words[3]);
  const auto source = std::make_shared<test::FakeSource>();
  source->Put(test::AnyJobInfo("a", test::MatrixLayout(words[4], rows, columns)));
  const auto sink = std::make_shared<test::FakeSink>();
  agents::FileServerOptions options;
  options.sink = sink;
  options.log = [](std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  };
  auto server = agents::FileServer::Mount(source, *path, options);
  if (!server) return Fail(server.error());
  std::printf("mounted%s\n", *cleared ? " again" : "");
  std::fflush(stdout);

  Shell shell(source, sink, rows, columns);
  std::thread reader([&] {
    std::string line;
    while (std::getline(std::cin, line) && shell.Obey(line)) {
    }
    ::kill(::getpid(), SIGTERM);
  });
  reader.detach();
  agents::ServeUntilEnd(**server, signals);
  server->reset();
  std::printf("unmounted\n");
  std::fflush(stdout);
  std::_Exit(0);  // the reader waits for a line
}
