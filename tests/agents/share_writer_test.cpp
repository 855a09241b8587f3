// SPDX-License-Identifier: Apache-2.0
// What nodes write of a view is a checkpoint with every element once, which reads back equal on any
// layout.
#include "agents/checkpoint/share_writer.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>
#include <algorithm>
#include <cstring>
#include <future>

#include "agents/checkpoint/checkpoint_place.h"
#include "agents/checkpoint/share_files.h"
#include "agents/checkpoint/stored_state.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/saved_folder.h"
#include "engine/copy/fused.h"
#include "engine/model/gpt.h"
#include "ptc/digest.h"
#include "tests/agents/data/http_server.h"
#include "tests/python/python.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;
using checkpoint::Checkpoint;

namespace {

ptc::CollectionPtr NanoTensors() {
  return *engine::MakeCollection({.model = *engine::FindModel("gpt-nano")}, false);
}

ptc::Layout NanoOn(const char* mesh) {
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), NanoTensors());
}

/// The bytes of the whole tensor.
std::vector<std::byte> WholeOf(const ptc::TensorSpec& spec, int tensor) {
  const auto elements = ptc::Box::Whole(spec.shape)->num_elements();
  std::vector<std::byte> out(static_cast<std::size_t>(elements * ptc::SizeBytes(spec.dtype)));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::byte>(i * 11 + static_cast<std::size_t>(tensor) * 5 + i / 253);
  }
  return out;
}

std::shared_ptr<const HeldShare> TakeShare(const ptc::Layout& layout, std::int32_t node) {
  auto plan = std::make_shared<const engine::ViewPlan>(layout);
  auto memory = *engine::ViewMemory::Create("writer test", plan->bytes_of_node().at(node));
  const engine::ViewStamp stamp{7, 1, 0, 40, layout.hash(), plan->hash(), node};
  for (const engine::ViewCell& cell : plan->cells()) {
    if (cell.device.node != node) continue;
    const ptc::TensorSpec& spec =
        layout.collection().tensors()[static_cast<std::size_t>(cell.tensor)];
    auto whole = WholeOf(spec, cell.tensor);
    const std::int64_t element = ptc::SizeBytes(spec.dtype);
    engine::CopyCell(
        engine::CellView(cell.box, cell.box, element, memory.data(cell.offset_bytes)),
        engine::CellView(*ptc::Box::Whole(spec.shape), cell.box, element, whole.data()));
  }
  memory.Stamp(stamp);
  return std::make_shared<const HeldShare>(
      HeldShare{"nano", layout, std::move(plan), stamp, std::move(memory), {}});
}

Result<WrittenShare> WriteShare(std::shared_ptr<const HeldShare> share, const std::string& path) {
  std::promise<Result<WrittenShare>> done;
  auto result = done.get_future();
  const ShareWriter writer(std::move(share), path,
                           {{}, [&](Result<WrittenShare> r) { done.set_value(std::move(r)); }});
  return result.get();
}

/// Writes the shares of all nodes of the layout and publishes them.
Result<checkpoint::Manifest> Save(const ptc::Layout& layout, const std::string& path) {
  checkpoint::Manifest manifest;
  manifest.job = "nano";
  manifest.step = 40;
  std::vector<std::uint64_t> digests(layout.collection().tensors().size(), 0);
  for (const std::int32_t node : engine::ViewPlan(layout).nodes()) {
    TESSERA_TRY(const WrittenShare written, WriteShare(TakeShare(layout, node), path));
    for (const auto& file : written.files) manifest.files.push_back(file);
    for (std::size_t t = 0; t < digests.size(); ++t) digests[t] += written.digests[t];
  }
  for (std::size_t t = 0; t < digests.size(); ++t) {
    const ptc::TensorSpec& spec = layout.collection().tensors()[t];
    manifest.tensors.push_back({spec.name, spec.dtype, spec.shape, digests[t]});
  }
  manifest.digest = ptc::Hex16(ptc::CollectionDigest(layout.collection(), digests));
  TESSERA_RETURN_IF_ERROR(checkpoint::Publish(path, checkpoint::PartialPath(path, 7), manifest));
  return manifest;
}

}  // namespace

class ShareWriterTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> m_home;
  std::string m_path;

 private slots:
  void init() {
    m_home = test::TemporaryFolder();
    m_path = m_home->filePath("nano-step-40").toStdString();
  }

  /// The agent's loop makes the writer, and the check may wait for a file system.
  void theCheckRunsOnItsThread() {
    const ptc::Layout layout = NanoOn("dp=1 on n0g0");
    std::promise<Status> may;
    std::promise<Result<WrittenShare>> done;
    ShareWriter::Handlers handlers;
    handlers.done = [&](Result<WrittenShare> result) { done.set_value(std::move(result)); };
    handlers.check = [&] { return may.get_future().get(); };
    const ShareWriter writer(TakeShare(layout, 0), m_path, std::move(handlers));
    may.set_value(Status(PermissionDenied("not there")));
    VERIFY_ERROR(done.get_future().get(), ErrorCode::kPermissionDenied, "not there");
    QVERIFY(!QFile::exists(
        QString::fromStdString(checkpoint::PartialPath(m_path, 7))));  // nothing is written
  }

  void everyElementIsStoredOnce_data() {
    QTest::addColumn<QByteArray>("mesh");
    QTest::newRow("one device") << QByteArray("dp=1 on n0g0");
    QTest::newRow("replicas") << QByteArray("dp=2 on n0g0,n1g0");
    QTest::newRow("fused tensors in parts") << QByteArray("dp=1,tp=2 on n0g0,n0g1");
    QTest::newRow("three nodes") << QByteArray("dp=1,tp=1,pp=3 on n0g1,n2g0,n5g0");
    QTest::newRow("all axes") << QByteArray(
        "dp=2,tp=2,pp=2 on n0g0,n0g1,n1g0,n1g1,n2g0,n2g1,n3g0,n3g1");
  }
  void everyElementIsStoredOnce() {
    QFETCH(QByteArray, mesh);
    const ptc::Layout layout = NanoOn(mesh.constData());
    const auto manifest = Save(layout, m_path);
    VERIFY_OK(manifest);
    const auto opened = Checkpoint::Open(m_path);
    VERIFY_OK(opened);
    QVERIFY((*opened)->format() == checkpoint::Format::kShardedSafetensors);
    std::int64_t bytes = 0;
    const auto& specs = layout.collection().tensors();
    QCOMPARE((*opened)->tensors().size(), specs.size());
    for (std::size_t t = 0; t < specs.size(); ++t) {
      const ptc::TensorSpec& spec = specs[t];
      const auto index = (*opened)->Find(spec.name);
      QVERIFY2(index, spec.name.c_str());
      const checkpoint::StoredTensor& stored =
          (*opened)->tensors()[static_cast<std::size_t>(*index)];
      QVERIFY(stored.dtype == spec.dtype && stored.shape == spec.shape);
      const auto expected = WholeOf(spec, static_cast<int>(t));
      std::vector<std::byte> read(expected.size());
      VERIFY_OK((*opened)->Read(*index, *ptc::Box::Whole(spec.shape), read));
      QVERIFY2(read == expected, spec.name.c_str());
      // The header, the manifest and the bytes agree.
      const std::uint64_t digest =
          ptc::DigestBox(spec.dtype, spec.shape, *ptc::Box::Whole(spec.shape), expected.data(),
                         *ptc::Box::Whole(spec.shape));
      QVERIFY2(stored.digest == digest && manifest->tensors[t].digest == digest, spec.name.c_str());
      bytes += static_cast<std::int64_t>(expected.size());
    }
    // Heads and padding are small.
    QVERIFY(manifest->bytes() >= bytes && manifest->bytes() < bytes + bytes / 4 + 100'000);
  }

  void pytorchReadsIt() {
    const test::Python torch =
        test::FindPython({QStringLiteral("torch.distributed.checkpoint"), "safetensors"});
    if (torch.program.isEmpty()) QSKIP(qPrintable(torch.why));
    const ptc::Layout layout = NanoOn("dp=1,tp=2,pp=2 on n0g0,n0g1,n1g0,n1g1");
    VERIFY_OK(Save(layout, m_path));
    const QDir expected(m_home->filePath("expected"));
    QVERIFY(QDir().mkpath(expected.path()));
    QJsonArray rows;
    const auto& specs = layout.collection().tensors();
    for (std::size_t t = 0; t < specs.size(); ++t) {
      QJsonArray shape;
      for (const std::int64_t size : specs[t].shape) shape.append(static_cast<qint64>(size));
      const QString name = QString::number(t);
      rows.append(QJsonObject{{"name", QString::fromStdString(specs[t].name)},
                              {"dtype", specs[t].dtype == ptc::DType::kI64 ? "I64" : "F32"},
                              {"shape", shape},
                              {"file", name}});
      const auto whole = WholeOf(specs[t], static_cast<int>(t));
      QFile file(expected.filePath(name));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(reinterpret_cast<const char*>(whole.data()), std::ssize(whole));
    }
    QFile list(expected.filePath("tensors.json"));
    QVERIFY(list.open(QIODevice::WriteOnly));
    list.write(QJsonDocument(rows).toJson());
    list.close();
    const QString wrong = test::RunScript(
        torch, QStringLiteral("safetensors_judge.py"),
        {QStringLiteral("dcp_check"), QString::fromStdString(m_path), expected.path()});
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

  void itIsReadIntoAJob() {
    const ptc::CollectionPtr tensors = NanoTensors();
    const auto manifest = Save(NanoOn("dp=1,tp=2 on n0g0,n1g0"), m_path);
    VERIFY_OK(manifest);
    const auto state = MatchState(*manifest, m_path, *tensors, false);
    VERIFY_OK(state);
    QCOMPARE(state->step, std::int64_t{40});
    QCOMPARE(state->digest, manifest->digest);
    const auto reader = StoredTensors::Open({m_path, false, 9}, *tensors, Checkpoint::Open);
    VERIFY_OK(reader);
    for (std::size_t t = 0; t < tensors->tensors().size(); ++t) {
      QVERIFY(state->digests[t] == manifest->tensors[t].digest);
      const ptc::TensorSpec& spec = tensors->tensors()[t];
      const auto expected = WholeOf(spec, static_cast<int>(t));
      std::vector<std::byte> read(expected.size());
      VERIFY_OK(reader->Read(static_cast<int>(t), *ptc::Box::Whole(spec.shape), read));
      QVERIFY(read == expected);
    }
  }

  // The rest is as in a job that begins: zeros, and the cursor at the job's seed.
  void onlyParametersAreTakenOver() {
    const ptc::CollectionPtr tensors = NanoTensors();
    const auto manifest = Save(NanoOn("dp=1 on n0g0"), m_path);
    VERIFY_OK(manifest);
    const auto state = MatchState(*manifest, m_path, *tensors, true);
    VERIFY_OK(state);
    QCOMPARE(state->step, std::int64_t{0});
    QVERIFY(state->digest.empty());
    const auto reader = StoredTensors::Open({m_path, true, 9}, *tensors, Checkpoint::Open);
    VERIFY_OK(reader);
    int parameters = 0;
    for (std::size_t t = 0; t < tensors->tensors().size(); ++t) {
      const ptc::TensorSpec& spec = tensors->tensors()[t];
      const auto whole = WholeOf(spec, static_cast<int>(t));
      std::vector<std::byte> read(whole.size(), std::byte{1});
      VERIFY_OK(reader->Read(static_cast<int>(t), *ptc::Box::Whole(spec.shape), read));
      if (spec.role == ptc::TensorRole::kParam) {
        QVERIFY(read == whole);
        QVERIFY(state->digests[t].has_value());
        ++parameters;
        continue;
      }
      QVERIFY(!state->digests[t]);
      std::vector<std::byte> expected(whole.size());
      if (spec.name == "job.cursor") expected[0] = std::byte{9};
      QVERIFY2(read == expected, spec.name.c_str());
    }
    QVERIFY(parameters > 10);
  }

  // The copy has the same tensors, which would be there twice.
  void aFileThatTheManifestDoesNotNameIsNotRead() {
    const auto manifest = Save(NanoOn("dp=1,tp=2 on n0g0,n1g0"), m_path);
    VERIFY_OK(manifest);
    QCOMPARE(ExamineCheckpointAt(m_path).unread, std::vector<std::string>());
    const QString folder = QString::fromStdString(m_path) + "/";
    QVERIFY(QFile::copy(folder + QString::fromStdString(manifest->files[0].name),
                        folder + "stray.safetensors"));
    const checkpoint::FoundCheckpoint found = ExamineCheckpointAt(m_path);
    QCOMPARE(found.problem, std::string());
    QCOMPARE(found.unread, std::vector<std::string>{
                               "'stray.safetensors' is not read: tessera.json does not name it"});
    const auto tensors = NanoTensors();
    const auto reader = StoredTensors::Open({m_path, false, 9}, *tensors, OpenCheckpointAt);
    VERIFY_OK(reader);
    const auto whole = WholeOf(tensors->tensors()[0], 0);
    std::vector<std::byte> read(whole.size());
    VERIFY_OK(reader->Read(0, *ptc::Box::Whole(tensors->tensors()[0].shape), read));
    QVERIFY(read == whole);
  }

  // As an object store serves it: by ranges, and without a list of the folder.
  void itIsReadFromAUrl() {
    const auto manifest = Save(NanoOn("dp=1,tp=2 on n0g0,n1g0"), m_path);
    VERIFY_OK(manifest);
    test::HttpServer server;
    const QDir folder(QString::fromStdString(m_path));
    for (const QString& name : folder.entryList(QDir::Files)) {
      QFile file(folder.filePath(name));
      QVERIFY(file.open(QIODevice::ReadOnly));
      server.Put("ck/" + name.toStdString(), file.readAll().toStdString());
    }
    const std::string url = server.url("ck?sig=secret");
    const checkpoint::FoundCheckpoint found = ExamineCheckpointAt(url);
    QCOMPARE(found.problem, std::string());
    QVERIFY(found.manifest == *manifest);
    const auto tensors = NanoTensors();
    const auto reader = StoredTensors::Open({url, false, 9}, *tensors, OpenCheckpointAt);
    VERIFY_OK(reader);
    const int before = server.requests();
    const auto matrix = std::ranges::find_if(tensors->tensors(), [](const ptc::TensorSpec& t) {
      return t.shape.size() == 2 && t.shape[0] > 4;
    });
    const auto index = static_cast<int>(matrix - tensors->tensors().begin());
    const ptc::TensorSpec& spec = *matrix;
    const auto whole = WholeOf(spec, index);
    const auto row = *ptc::Box::Make(std::vector<ptc::Interval>{{3, 4}, {0, spec.shape[1]}});
    std::vector<std::byte> read(static_cast<std::size_t>(spec.shape[1]) * 4);
    VERIFY_OK(reader->Read(index, row, read));
    QVERIFY(std::memcmp(read.data(), whole.data() + 3 * read.size(), read.size()) == 0);
    QVERIFY(server.requests() <= before + 4);  // not the whole file in pieces
    // One that is replaced while it is open is noticed, and so is one that is shorter from the
    // start.
    const std::string shard = manifest->files[0].name;
    server.Put("ck/" + shard, std::string(500, 'x'), "\"2\"");
    std::vector<std::byte> all(whole.size());
    const auto changed = reader->Read(index, *ptc::Box::Whole(spec.shape), all);
    VERIFY_ERROR(changed, ErrorCode::kDataLoss, shard);
    VERIFY_ERROR(StoredTensors::Open({url, false, 9}, *tensors, OpenCheckpointAt),
                 ErrorCode::kDataLoss, "has 500 bytes, the manifest says");
    // Messages do not show what gives access.
    server.Put("ck/tessera.json", "{");
    const std::string problem = ExamineCheckpointAt(url).problem;
    QVERIFY2(problem.find("tessera.json': ") != std::string::npos &&
                 problem.find("secret") == std::string::npos,
             problem.c_str());
    const auto missing =
        StoredTensors::Open({server.url("no"), false, 9}, *tensors, OpenCheckpointAt);
    VERIFY_ERROR(missing, ErrorCode::kNotFound, "/no/tessera.json");
  }

  void aJobOfOtherTensorsIsRefused() {
    auto manifest = Save(NanoOn("dp=1 on n0g0"), m_path);
    VERIFY_OK(manifest);
    const auto mini = *engine::MakeCollection({.model = *engine::FindModel("gpt-mini")}, false);
    VERIFY_ERROR(MatchState(*manifest, m_path, *mini, false), ErrorCode::kFailedPrecondition,
                 " in it, f32 [");
    manifest->tensors.push_back({"extra", ptc::DType::kF32, {1}, 0});
    VERIFY_ERROR(MatchState(*manifest, m_path, *NanoTensors(), false),
                 ErrorCode::kFailedPrecondition, "tensor 'extra' is not one of the job");
    VERIFY_OK(MatchState(*manifest, m_path, *NanoTensors(), true));
    std::erase_if(manifest->tensors, [](const auto& t) { return t.name == "job.step"; });
    VERIFY_ERROR(MatchState(*manifest, m_path, *NanoTensors(), false),
                 ErrorCode::kFailedPrecondition, "tensor 'job.step' of the job is not in it");
  }

  void aFolderThatCannotBeWrittenIsNamed() {
    const std::string file = m_home->filePath("file").toStdString();
    QFile(QString::fromStdString(file)).open(QIODevice::WriteOnly);
    const auto layout = NanoOn("dp=1 on n0g0");
    VERIFY_ERROR(WriteShare(TakeShare(layout, 0), file + "/c"), ErrorCode::kNotFound, "file/c");
    VERIFY_OK(Save(layout, m_path));
    VERIFY_ERROR(WriteShare(TakeShare(layout, 0), m_path), ErrorCode::kAlreadyExists, m_path);
  }

  // A writer that is cancelled leaves no complete checkpoint, and says so.
  void cancellingEndsIt() {
    const auto layout = NanoOn("dp=1 on n0g0");
    for (int i = 0; i < 20; ++i) {
      std::promise<Result<WrittenShare>> done;
      auto result = done.get_future();
      std::make_unique<ShareWriter>(
          TakeShare(layout, 0), m_path + std::to_string(i),
          ShareWriter::Handlers{{}, [&](Result<WrittenShare> r) { done.set_value(std::move(r)); }});
      const auto ended = result.get();
      if (!ended) QCOMPARE(ended.error().code, ErrorCode::kCancelled);
      QVERIFY(!checkpoint::Examine(m_path + std::to_string(i)).problem.empty());
    }
  }
};

TESSERA_TEST(ShareWriterTest)
#include "share_writer_test.moc"
