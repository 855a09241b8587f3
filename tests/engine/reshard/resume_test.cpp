// SPDX-License-Identifier: Apache-2.0
// Runs that end before their time: killed at any moment, stopped, out of space. The next one goes
// on and makes the same bytes.
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTest>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/reshard/reshard.h"
#include "tests/engine/reshard/checkpoint_files.h"
#include "tests/engine/reshard/killed_process.h"
#include "tests/engine/reshard/reshard_fixture.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

namespace tessera::reshard {
namespace {

namespace fs = std::filesystem;
using checkpoint::Checkpoint;
using checkpoint::Format;

class ResumeTest : public test::ReshardFixture {
  Q_OBJECT

 private slots:
  void init() {
    NewFolder();
    tensors_ = {{"bias", ptc::DType::kF32, {7}},
                {"embed", ptc::DType::kF32, {40, 33}},
                {"head", ptc::DType::kBF16, {33, 40}},
                {"step", ptc::DType::kI64, {}}};
    QVERIFY(test::WriteSafetensors(Path("src.safetensors"), kSeed, tensors_));
  }

  void killedAtAnyMoment_data() {
    QTest::addColumn<bool>("old");
    QTest::newRow("to a new place") << false;
    QTest::newRow("over an old one") << true;
  }
  void killedAtAnyMoment() {
    QFETCH(bool, old);
    std::mt19937_64 rng(test::Seed());
    Options options;
    options.format = Format::kShardedSafetensors;
    options.layout = test::AnyLayout(rng, tensors_);
    options.tile_bytes = 1024;
    options.commit_bytes = 2048;
    options.replace = old;
    VERIFY_OK(Run("reference", options));
    const auto reference = Content("reference");
    int resumed = 0;
    for (int moment = 1;; moment += 1 + static_cast<int>(rng() % 3)) {
      fs::remove_all(Path("dst"));
      if (old) std::ofstream(Path("dst")) << "old";
      const auto killed = test::KillAtChange(moment, [&] { (void)Run("dst", options); });
      if (!killed) QSKIP("processes may not be traced here");
      // The destination is the complete old output or the complete new one.
      if (fs::is_directory(Path("dst"))) {
        QVERIFY(Content("dst") == reference);
      } else {
        QCOMPARE(test::Slurp(Path("dst")), std::string(old ? "old" : ""));
      }
      const auto output = Checkpoint::Open(Path("dst.partial/output"));
      if (output) QCOMPARE(test::WhatDiffers(**output, kSeed, tensors_), std::string());
      if (!*killed) {
        QVERIFY(moment > 30);
        break;
      }
      const auto report = Run("dst", options);
      if (!report && report.error().code == ErrorCode::kAlreadyExists) {
        QVERIFY(!old && !fs::exists(Path("dst.partial")));  // killed when all was done
        continue;
      }
      VERIFY_OK(report);
      resumed += report->bytes_resumed > 0 ? 1 : 0;
      QVERIFY(Content("dst") == reference);
      QVERIFY(!fs::exists(Path("dst.partial")));
    }
    QVERIFY(resumed > 5);
  }

  void stoppedAndResumed() {
    Options options = Stopped("dst.safetensors");
    std::string notes;
    options.note = [&](const std::string& line) { notes += line + "\n"; };
    options.must_resume = true;
    const auto report = Run("dst.safetensors", options);
    VERIFY_OK(report);
    QVERIFY(report->bytes_resumed > 0);
    QVERIFY(report->bytes_read > 0);
    QCOMPARE(report->bytes_resumed + report->bytes_read, Bytes());
    QVERIFY2(notes.starts_with("resuming at "), notes.c_str());
    const auto made = Checkpoint::Open(Path("dst.safetensors"));
    VERIFY_OK(made);
    QCOMPARE(test::WhatDiffers(**made, kSeed, tensors_), std::string());
    VERIFY_ERROR(Run("dst.safetensors", {.must_resume = true}), ErrorCode::kAlreadyExists, "dst");
    VERIFY_ERROR(Run("new.safetensors", {.must_resume = true}), ErrorCode::kFailedPrecondition,
                 "no unfinished");
    QVERIFY(!fs::exists(Path("new.safetensors.partial")));
  }

  void otherArgumentsAreRefused() {
    Options options = Stopped("dst.safetensors");
    options.spelling = {{"--dtype", "bf16"}};
    options.dtypes = {{"", ptc::DType::kBF16}};
    VERIFY_ERROR(Run("dst.safetensors", options), ErrorCode::kFailedPrecondition,
                 "it has --dtype unset, not bf16; --restart");
    options.restart = true;
    const auto report = Run("dst.safetensors", options);
    VERIFY_OK(report);
    QCOMPARE(report->bytes_resumed, 0);
  }

  void changedSourceIsRefused() {
    const Options options = Stopped("dst.safetensors");
    fs::last_write_time(Path("src.safetensors"),
                        fs::last_write_time(Path("src.safetensors")) + std::chrono::seconds(1));
    VERIFY_ERROR(Run("dst.safetensors", options), ErrorCode::kFailedPrecondition,
                 "has changed since; --restart");
  }

  void damagedJournalIsNamed() {
    const Options options = Stopped("dst.safetensors");
    const std::string journal = Path("dst.safetensors.partial/journal.jsonl");
    const std::string text = test::Slurp(journal);
    std::ofstream(journal) << text << "{\"tile\":";  // cut off: what a crash leaves
    VERIFY_OK(Run("copy.safetensors", {}));
    std::ofstream(journal) << text << "nonsense\n";
    VERIFY_ERROR(Run("dst.safetensors", options), ErrorCode::kDataLoss, "is damaged");
  }

  void oneAtATime() {
    bool second_failed = false;
    Options options;
    options.watch = [&](const Progress& progress) {
      if (progress.bytes_done > 0) return true;
      const auto other = Run("dst.safetensors", {});
      second_failed = !other && other.error().message.find("another process") != std::string::npos;
      return true;
    };
    VERIFY_OK(Run("dst.safetensors", options));
    QVERIFY(second_failed);
  }

  void diskFullInMidWrite() {
#if defined(__SANITIZE_THREAD__)
    QSKIP("the thread sanitizer follows no threads of a forked process");
#endif
    // A small file system of the test's own, in a process of its own.
    const pid_t child = fork();
    if (child == 0) _exit(DiskFull());
    int status = 0;
    QCOMPARE(waitpid(child, &status, 0), child);
    QVERIFY(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) QSKIP("no file system can be mounted here");
    QCOMPARE(WEXITSTATUS(status), 0);
  }

 private:
  static constexpr std::uint64_t kSeed = 43;

  std::int64_t Bytes() const {
    std::int64_t bytes = 0;
    for (const OutTensor& tensor : tensors_) bytes += BytesOf(tensor);
    return bytes;
  }

  /// File names and contents of a folder.
  std::map<std::string, std::string> Content(const std::string& folder) const {
    std::map<std::string, std::string> content;
    for (const auto& entry : fs::directory_iterator(Path(folder)))
      content[entry.path().filename().string()] = test::Slurp(entry.path().string());
    return content;
  }

  /// Runs until about the middle.
  /// \return the options with which the run can be resumed
  Options Stopped(const std::string& destination) const {
    Options options;
    options.tile_bytes = 1024;
    options.commit_bytes = 1024;
    options.threads = 1;
    Options stopping = options;
    // A source that ends in its middle stops a run there; then it is whole again.
    const std::string whole = test::Slurp(Path("src.safetensors"));
    const auto time = fs::last_write_time(Path("src.safetensors"));
    stopping.watch = [&](const Progress& progress) {
      if (progress.bytes_done == 0) fs::resize_file(Path("src.safetensors"), whole.size() - 3000);
      return true;
    };
    if (Run(destination, stopping)) qFatal("it did not stop");
    {
      std::fstream file(Path("src.safetensors"), std::ios::in | std::ios::out | std::ios::binary);
      file.write(whole.data(), std::ssize(whole));
    }
    fs::last_write_time(Path("src.safetensors"), time);
    return options;
  }

  /// \return 0; 77 where nothing can be mounted; else the line that failed
  int DiskFull() const {
    const std::string disk = Path("disk");
    fs::create_directory(disk);
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
    mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0) return 77;
    // Too small from the beginning: nothing is begun.
    const std::vector<OutTensor> large = {{"w", ptc::DType::kF32, {1000, 1000}}};
    if (!test::WriteSafetensors(Path("large.safetensors"), kSeed, large)) return 1;
    const auto source = Checkpoint::Open(Path("large.safetensors"));
    if (!source) return 2;
    const auto none = Reshard(**source, disk + "/dst.safetensors", {});
    if (none || none.error().code != ErrorCode::kResourceExhausted) return 3;
    if (!fs::is_empty(disk)) return 4;
    // The disk becomes full during the run: the rest of it is filled after the start.
    const std::vector<OutTensor> half = {{"w", ptc::DType::kF32, {1000, 150}}};
    if (!test::WriteSafetensors(Path("half.safetensors"), kSeed, half)) return 5;
    const auto fits = Checkpoint::Open(Path("half.safetensors"));
    if (!fits) return 6;
    Options options;
    options.tile_bytes = 8192;
    options.commit_bytes = 8192;
    options.watch = [&](const Progress& progress) {
      if (progress.bytes_done == 0)
        std::ofstream(disk + "/filler") << std::string(std::size_t{700} << 10, 'x');
      return true;
    };
    const auto full = Reshard(**fits, disk + "/dst.safetensors", options);
    if (full || full.error().code != ErrorCode::kResourceExhausted) return 7;
    if (fs::exists(disk + "/dst.safetensors")) return 8;
    if (full.error().message.find("the same command resumes") == std::string::npos) return 9;
    fs::remove(disk + "/filler");
    options.watch = {};
    const auto report = Reshard(**fits, disk + "/dst.safetensors", options);
    if (!report || report->bytes_resumed == 0) return 10;
    const auto made = Checkpoint::Open(disk + "/dst.safetensors");
    if (!made || !test::WhatDiffers(**made, kSeed, half).empty()) return 11;
    return 0;
  }

  std::vector<OutTensor> tensors_;
};

}  // namespace
}  // namespace tessera::reshard

TESSERA_TEST(tessera::reshard::ResumeTest)
#include "resume_test.moc"
