// SPDX-License-Identifier: Apache-2.0
/// \file
/// The FUSE session over a socket pair: no mount, no root, no /dev/fuse.

#include <fcntl.h>

#include <QTest>
#include <QThread>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>

#include "agents/fuse/file_server.h"
#include "engine/data/text_dataset.h"
#include "tests/agents/fuse/fake_kernel.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/vfs/fake_samples.h"
#include "tests/engine/vfs/fake_source.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using test::FakeKernel;
using test::FakeSource;

namespace {

ptc::Layout LayoutOf(const char* mesh, std::int64_t rows = 1024) {
  ptc::TensorSpec w{.name = "w", .dtype = ptc::DType::kF32, .shape = {rows, 512}};
  w.rule.dims = {{.axes = {ptc::Axis::kDp}}, {}};
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), *ptc::Collection::Make({w}, 1));
}

/// Windows of 3 bytes.
engine::DataMix TextOf(std::string text) {
  const auto file = test::InMemory("a.txt", std::move(text));
  return *engine::DataMix::Make(
      {{std::make_shared<const engine::TextDataset>(*engine::TextDataset::Make({file}, 2)), 0}});
}

struct Listed {
  std::string name;
  std::uint64_t node = 0;
  std::uint32_t type = 0;
};

/// The entries of one READDIRPLUS reply; `next` becomes the offset behind them.
std::vector<Listed> ParsePlus(const std::string& body, std::uint64_t& next) {
  std::vector<Listed> all;
  for (std::size_t at = 0; at + FUSE_NAME_OFFSET_DIRENTPLUS <= body.size();) {
    fuse_direntplus entry{};
    body.copy(reinterpret_cast<char*>(&entry), FUSE_NAME_OFFSET_DIRENTPLUS, at);
    all.push_back({body.substr(at + FUSE_NAME_OFFSET_DIRENTPLUS, entry.dirent.namelen),
                   entry.entry_out.nodeid, entry.dirent.type});
    next = entry.dirent.off;
    at += FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET_DIRENTPLUS + entry.dirent.namelen);
  }
  return all;
}

}  // namespace

class FuseSocketTest : public QObject {
  Q_OBJECT
 private:
  std::shared_ptr<FakeSource> source_;
  std::shared_ptr<test::FakeSamples> samples_;
  std::unique_ptr<FakeKernel> kernel_;
  std::unique_ptr<agents::FileServer> server_;
  std::mutex mutex_;
  std::vector<std::string> log_;

  std::vector<std::string> Log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  std::string ReadAll(std::uint64_t node, std::uint64_t handle, std::uint32_t step) {
    std::string all;
    for (;;) {
      const auto reply = kernel_->Read(node, handle, all.size(), step);
      if (reply.error != 0 || reply.body.empty()) return all;
      all += reply.body;
    }
  }

 private slots:
  void init() {
    log_.clear();
    source_ = std::make_shared<FakeSource>();
    source_->Put(test::AnyJobInfo("a", LayoutOf("dp=2 on 1x2")));
    auto reads = test::AnyJobInfo("reads", LayoutOf("dp=2 on 1x2"));
    reads.has_data = true;
    source_->Put(std::move(reads));
    samples_ = std::make_shared<test::FakeSamples>();
    samples_->Put({TextOf("the quick brown fox jumps"), 1, 6, 0});
    kernel_ = std::make_unique<FakeKernel>();
    agents::FileServerOptions options;
    options.tree.samples = samples_;
    options.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_.emplace_back(line);
    };
    auto server = agents::FileServer::OverSocket(source_, kernel_->server_end(), options);
    VERIFY_OK(server);
    server_ = std::move(*server);
    QCOMPARE(kernel_->Init().major, 7U);
  }
  void cleanup() {
    server_.reset();
    kernel_.reset();
  }

  void theSessionAgreesOnBigReadsAndNoSplicing() {
    FakeKernel other;
    const auto server = agents::FileServer::OverSocket(source_, other.server_end(), {});
    VERIFY_OK(server);
    const auto init = other.Init();
    QCOMPARE(init.max_readahead, 1U << 20);
    QCOMPARE(init.max_pages, 256);
    QVERIFY((init.flags & FUSE_ASYNC_READ) != 0);
    QVERIFY((init.flags & FUSE_DO_READDIRPLUS) != 0);
    QCOMPARE(init.flags & (FUSE_READDIRPLUS_AUTO | FUSE_AUTO_INVAL_DATA | FUSE_SPLICE_READ |
                           FUSE_SPLICE_WRITE | FUSE_SPLICE_MOVE),
             0U);
  }

  void attributesAreThoseOfReadOnlyFiles() {
    const auto entry = kernel_->Lookup(FUSE_ROOT_ID, "jobs").As<fuse_entry_out>();
    QCOMPARE(entry.attr.mode, static_cast<std::uint32_t>(S_IFDIR | 0555));
    const auto step = kernel_->Lookup(kernel_->Walk("jobs/a"), "step").As<fuse_entry_out>();
    QCOMPARE(step.attr.mode, static_cast<std::uint32_t>(S_IFREG | 0444));
    QCOMPARE(step.attr.size, 3U);
    QCOMPARE(step.entry_valid, 0U);  // the next open may need another version
    fuse_getattr_in in{};
    const auto again =
        kernel_->Call(FUSE_GETATTR, step.nodeid, {reinterpret_cast<const char*>(&in), sizeof in});
    QCOMPARE(again.error, 0);
    QCOMPARE(again.As<fuse_attr_out>().attr.size, 3U);
    QCOMPARE(again.As<fuse_attr_out>().attr.ino, step.nodeid);
    const auto seconds = static_cast<std::int64_t>(step.attr.mtime) - ::time(nullptr);
    QVERIFY2(std::abs(seconds) < 60, qPrintable(QString::number(seconds)));
  }

  void filesAreReadInPiecesOfAnySize() {
    const ptc::Layout layout = LayoutOf("dp=2 on 1x2");
    for (const bool direct : {false, true}) {
      source_->SetDirect(direct);
      const auto node = kernel_->Walk("jobs/a/ranks/1/model.safetensors");
      const auto open = kernel_->Open(node);
      QCOMPARE(open.error, 0);
      QVERIFY((open.As<fuse_open_out>().open_flags & FOPEN_KEEP_CACHE) != 0);
      QVERIFY((open.As<fuse_open_out>().open_flags & FOPEN_DIRECT_IO) == 0);  // mmap works
      const auto handle = open.As<fuse_open_out>().fh;
      for (const std::uint32_t step : {1U << 20, 131072U, 99991U}) {
        QCOMPARE(test::Judge(ReadAll(node, handle, step), test::AnyJobInfo("a", layout), 1, true),
                 std::string());
      }
      QCOMPARE(kernel_->Read(node, handle, 1ULL << 40, 4096).body.size(), 0U);
      QCOMPARE(kernel_->Release(node, handle).error, 0);
    }
  }

  void aReadIsNeverLargerThanAgreed() {
    const auto node = kernel_->Walk("jobs/a/full/model.safetensors");
    const auto handle = kernel_->Open(node).As<fuse_open_out>().fh;
    QCOMPARE(kernel_->Read(node, handle, 0, UINT32_MAX).body.size(), std::size_t{1} << 20);
  }

  void errorsAreErrnosAndLines() {
    const auto node = kernel_->Walk("jobs/a/full/model.safetensors");
    QCOMPARE(kernel_->Lookup(FUSE_ROOT_ID, "nothing").error, ENOENT);
    QCOMPARE(kernel_->Open(node, O_WRONLY).error, EROFS);
    QCOMPARE(kernel_->Open(node, O_RDWR).error, EROFS);
    QVERIFY(Log().empty());
    source_->FailPins(ResourceExhausted("views hold 900 bytes of 1000"));
    QCOMPARE(kernel_->Open(node).error, ENOSPC);
    QVERIFY(Log().back().find("views hold 900 bytes of 1000") != std::string::npos);
    source_->FailPins(Unavailable("job 'a' is being reconfigured"));
    QCOMPARE(kernel_->Open(node).error, EBUSY);
    source_->FailPins(std::nullopt);
    const auto handle = kernel_->Open(node).As<fuse_open_out>().fh;
    source_->FailReads(Unavailable("tensor 'w': n1 is lost"));
    QCOMPARE(kernel_->Read(node, handle, 1 << 20, 4096).error, EIO);
    QVERIFY(Log().back().find("n1 is lost") != std::string::npos);
    QCOMPARE(Log().size(), 3U);
    QCOMPARE(kernel_->Read(node, handle + 77, 0, 4096).error, EINVAL);
    // Unknown requests are refused.
    QCOMPARE(kernel_->Call(FUSE_RMDIR, FUSE_ROOT_ID, {"jobs", 5}).error, ENOSYS);
    QCOMPARE(kernel_->Call(FUSE_UNLINK, FUSE_ROOT_ID, {"jobs", 5}).error, EROFS);
  }

  void aLayoutThatChangedIsLookedUpAgain() {
    const auto old = kernel_->Walk("jobs/a/full/model.safetensors");
    source_->BeforeNextPin([&] { source_->Reconfigure("a", LayoutOf("dp=4 on 1x4")); });
    QCOMPARE(kernel_->Open(old).error, ESTALE);
    const auto fresh = kernel_->Walk("jobs/a/full/model.safetensors");
    QVERIFY(fresh != old);
    QCOMPARE(kernel_->Open(fresh).error, 0);
    QVERIFY(Log().empty());
  }

  void aFolderIsListedWithItsInodes() {
    source_->Put(test::AnyJobInfo("big", LayoutOf("dp=1024 on 128x8")));
    const auto ranks = kernel_->Walk("jobs/big/ranks");
    const auto handle = kernel_->Open(ranks, O_DIRECTORY).As<fuse_open_out>().fh;
    std::vector<Listed> all;
    std::uint64_t next = 0;
    for (;;) {
      const auto reply = kernel_->Read(ranks, handle, next, 8192, FUSE_READDIRPLUS);
      QCOMPARE(reply.error, 0);
      QVERIFY(reply.body.size() <= 8192);
      const auto some = ParsePlus(reply.body, next);
      if (some.empty()) break;
      all.insert(all.end(), some.begin(), some.end());
    }
    QCOMPARE(all.size(), 1026U);
    QCOMPARE(all[0].name, std::string("."));
    QCOMPARE(all[1].name, std::string(".."));
    QCOMPARE(all[0].node, 0U);  // no lookup
    for (std::size_t i = 2; i < all.size(); ++i) {
      QCOMPARE(all[i].name, std::to_string(i - 2));
      QCOMPARE(all[i].type, static_cast<std::uint32_t>(S_IFDIR >> 12));
    }
    QCOMPARE(kernel_->Lookup(ranks, "700").As<fuse_entry_out>().nodeid, all[702].node);
    QCOMPARE(kernel_->Release(ranks, handle, FUSE_RELEASEDIR).error, 0);

    // Each entry counted as one lookup.
    const auto before = server_->usage().inodes;
    for (std::size_t i = 2; i < all.size(); ++i) kernel_->Forget(all[i].node, 1);
    kernel_->Forget(all[702].node, 1);
    QCOMPARE(kernel_->Lookup(FUSE_ROOT_ID, "none").error, ENOENT);
    QTRY_COMPARE(server_->usage().inodes, before - 1024);
  }

  // A waiting request delays no other.
  void slowPinsDoNotHoldOthersUp() {
    source_->Put(test::AnyJobInfo("b", LayoutOf("dp=1 on 1x1")));
    const auto slow = kernel_->Walk("jobs/a/full/model.safetensors");
    const auto other = kernel_->Walk("jobs/b/full/model.safetensors");
    std::mutex gate;
    gate.lock();
    source_->BeforeNextPin([&] { const std::lock_guard wait(gate); });
    const fuse_open_in in{};
    const auto number =
        kernel_->Send(FUSE_OPEN, slow, {reinterpret_cast<const char*>(&in), sizeof in});
    QTest::qWait(50);  // if the pin has not begun, the test only checks less
    const auto reply = kernel_->Open(other);
    gate.unlock();
    QCOMPARE(reply.error, 0);
    QCOMPARE(kernel_->Receive(number).error, 0);
  }

  void samplesAreListedAndRead() {
    const auto folder = kernel_->Walk("jobs/reads/data/1");
    const auto handle = kernel_->Open(folder, O_DIRECTORY).As<fuse_open_out>().fh;
    std::uint64_t next = 0;
    const auto reply = kernel_->Read(folder, handle, 0, 1 << 16, FUSE_READDIRPLUS);
    const auto all = ParsePlus(reply.body, next);
    QCOMPARE(all.size(), 66U);
    QCOMPARE(all[2].name, std::string("00000010.txt"));
    const auto entry = kernel_->Lookup(folder, "00000010.txt").As<fuse_entry_out>();
    QCOMPARE(entry.nodeid, all[2].node);
    QCOMPARE(entry.attr.size, 9U);  // three of six samples
    QCOMPARE(entry.entry_valid, 0U);
    const auto file = kernel_->Open(entry.nodeid).As<fuse_open_out>().fh;
    QCOMPARE(ReadAll(entry.nodeid, file, 4).size(), std::size_t{9});
    source_->Reconfigure("reads", LayoutOf("dp=4 on 1x4"));
    QTRY_COMPARE(kernel_->Open(entry.nodeid).error, ESTALE);
    QCOMPARE(kernel_->Lookup(folder, "00000010.txt").As<fuse_entry_out>().attr.size, 6U);
    QVERIFY(Log().empty());
  }

  void dataThatCannotBeReadAreEioAndALine() {
    samples_->Fail(NotFound("data path '/srv/x' does not exist"));
    const auto folder = kernel_->Walk("jobs/reads/data/0");
    QCOMPARE(kernel_->Open(folder, O_DIRECTORY).error, EIO);
    QCOMPARE(kernel_->Lookup(folder, "00000010.txt").error, EIO);
    QVERIFY(Log().back().find("data path '/srv/x' does not exist") != std::string::npos);
    samples_->Fail(Timeout("data are being opened: 3 of 9 bytes are read"));
    QCOMPARE(kernel_->Lookup(folder, "00000010.txt").error, ETIMEDOUT);
    QVERIFY(Log().back().find("3 of 9") != std::string::npos);
  }

  // More requests wait for data than there are threads; all others are answered.
  void slowDataHoldNobodyUp() {
    const auto folder = kernel_->Walk("jobs/reads/data/0");
    std::mutex gate;
    gate.lock();
    samples_->BeforeOpen([&] { const std::lock_guard wait(gate); });
    std::vector<std::uint64_t> waiting;
    for (int i = 0; i < 40; ++i) {
      const std::string name = "000000" + std::to_string(10 + i) + ".txt";
      waiting.push_back(kernel_->Send(FUSE_LOOKUP, folder, {name.c_str(), name.size() + 1}));
    }
    const auto step = kernel_->Walk("jobs/reads/step");
    const int opened = step == 0 ? EIO : kernel_->Open(step).error;
    gate.unlock();
    QCOMPARE(opened, 0);
    for (const std::uint64_t number : waiting) QCOMPARE(kernel_->Receive(number).error, 0);
  }

  void theEndAnswersWhatWaitsForData() {
    const auto folder = kernel_->Walk("jobs/reads/data/0");
    std::atomic<bool> begun = false;
    samples_->BeforeOpen([&, samples = samples_.get()] {
      begun = true;
      while (!samples->is_stopped()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    const std::string name = "00000010.txt";
    const auto number = kernel_->Send(FUSE_LOOKUP, folder, {name.c_str(), name.size() + 1});
    QTRY_VERIFY(begun);
    server_.reset();
    QCOMPARE(kernel_->Receive(number).error, 0);
  }

  void aClusterThatDoesNotAnswerHoldsUpNoEnd() {
    const auto slow = kernel_->Walk("jobs/a/full/model.safetensors");
    std::atomic<bool> pins = false;
    source_->BeforeNextPin([&] {
      pins = true;
      while (!source_->cancelled) QThread::msleep(1);  // for ever, unless the server cancels
    });
    const fuse_open_in in{};
    kernel_->Send(FUSE_OPEN, slow, {reinterpret_cast<const char*>(&in), sizeof in});
    QTRY_VERIFY(pins);
    server_.reset();  // returns
    QVERIFY(source_->cancelled);
  }

  void theEndOfTheOtherSideIsNoticed() {
    const auto node = kernel_->Walk("jobs/a/full/model.safetensors");
    QCOMPARE(kernel_->Open(node).error, 0);
    QCOMPARE(source_->num_views(), 1);
    QVERIFY(!server_->WaitEnded(std::chrono::milliseconds(0)));
    kernel_->Close();
    QVERIFY(server_->WaitEnded(std::chrono::seconds(10)));
    server_.reset();
    QCOMPARE(source_->num_views(), 0);
  }

  void brokenRequestsEndNothing() {
    const auto jobs = kernel_->Walk("jobs");
    QVERIFY(kernel_->Call(FUSE_OPEN, jobs + 1000, std::string(8, '\0')).error != 0);
    QVERIFY(kernel_->Call(9999, 1, "xyz").error == ENOSYS);
    QVERIFY(kernel_->Call(FUSE_READ, 1, std::string(40, '\xff')).error != 0);
    QCOMPARE(kernel_->Walk("jobs"), jobs);
  }
};

TESSERA_TEST(FuseSocketTest)
#include "fuse_socket_test.moc"
