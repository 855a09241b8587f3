// SPDX-License-Identifier: Apache-2.0
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>

#include "engine/checkpoint/safetensors/dtype_names.h"
#include "engine/reshard/reshard.h"
#include "tests/engine/checkpoint/sample_checkpoint.h"
#include "tests/engine/reshard/checkpoint_files.h"
#include "tests/python/python.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::checkpoint;
using test::SampleTensor;

namespace {

namespace fs = std::filesystem;

const QString kScript = QStringLiteral("safetensors_judge.py");

std::vector<SampleTensor> LoadExpected(const fs::path& folder) {
  std::vector<SampleTensor> tensors;
  const auto rows =
      QJsonDocument::fromJson(QByteArray::fromStdString(test::ReadText(folder / "tensors.json")))
          .array();
  for (const auto& value : rows) {
    const QJsonObject row = value.toObject();
    const auto text = [&](const char* key) {
      return row.value(QLatin1String(key)).toString().toStdString();
    };
    SampleTensor tensor{text("name"), *ParseSafetensorsName(text("dtype")), {}, {}};
    for (const auto& size : row.value(QLatin1String("shape")).toArray()) {
      tensor.shape.push_back(size.toInteger());
    }
    const std::string bytes = test::ReadText(folder / text("file"));
    const auto span = std::as_bytes(std::span(bytes));
    tensor.bytes.assign(span.begin(), span.end());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

void SaveExpected(const fs::path& folder, const std::vector<SampleTensor>& tensors) {
  fs::create_directories(folder);
  QJsonArray rows;
  for (const SampleTensor& tensor : tensors) {
    const std::string file = std::to_string(rows.size()) + ".bin";
    test::WriteText(folder / file,
                    {reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
    QJsonArray shape;
    for (const std::int64_t size : tensor.shape) shape.append(static_cast<qint64>(size));
    const std::string dtype(SafetensorsName(tensor.dtype));
    rows.append(QJsonObject{{QStringLiteral("name"), QString::fromStdString(tensor.name)},
                            {QStringLiteral("dtype"), QString::fromStdString(dtype)},
                            {QStringLiteral("shape"), shape},
                            {QStringLiteral("file"), QString::fromStdString(file)}});
  }
  test::WriteText(folder / "tensors.json", QJsonDocument(rows).toJson().toStdString());
}

/// Random tensors and all that is special: scalars, no elements, names beyond ASCII.
std::vector<SampleTensor> Samples(std::mt19937_64& rng) {
  std::vector<SampleTensor> tensors;
  for (int i = 0; i < 40; ++i) {
    tensors.push_back(
        test::AnyTensor(rng, "layer." + std::to_string(i) + (i % 7 ? "" : ".\"größe\"")));
    if (tensors.back().dtype != ptc::DType::kBool) continue;
    for (std::byte& byte : tensors.back().bytes) byte &= std::byte{1};
  }
  return tensors;
}

std::vector<reshard::OutTensor> FormsOf(const Checkpoint& checkpoint) {
  std::vector<reshard::OutTensor> forms;
  for (const StoredTensor& tensor : checkpoint.tensors()) {
    forms.push_back({tensor.name, tensor.dtype, tensor.shape});
  }
  return forms;
}

}  // namespace

class SafetensorsPythonTest : public QObject {
  Q_OBJECT
 private:
  test::Python python_;
  test::Python torch_;
  std::unique_ptr<QTemporaryDir> folder_;
  fs::path Path(const char* name) const {
    return folder_->filePath(QString::fromLatin1(name)).toStdString();
  }
  QString Run(const test::Python& python, const QStringList& arguments) const {
    return test::RunScript(python, kScript, arguments);
  }
  /// Writes "ours" of a source by reshard; what is wrong with it as Python reads it.
  QString Resharded(const fs::path& source, Format format, const fs::path& expected) const {
    const auto opened = Checkpoint::Open(source);
    if (!opened) return QString::fromStdString(opened.error().ToString());
    const auto report = reshard::Reshard(
        **opened, Path("ours"),
        {.format = format, .files = {.most_bytes = 4000}, .replace = true, .tile_bytes = 256});
    if (!report) return QString::fromStdString(report.error().ToString());
    return Run(python_, {QStringLiteral("check"), QString::fromStdString(Path("ours")),
                         QString::fromStdString(expected)});
  }

 private slots:
  void initTestCase() {
    python_ = test::FindPython({QStringLiteral("numpy"), QStringLiteral("safetensors")});
    if (python_.program.isEmpty()) {
      QSKIP(qPrintable(python_.why));
    }
    torch_ = test::FindPython(
        {QStringLiteral("safetensors"), QStringLiteral("torch.distributed.checkpoint.hf_storage")});
  }
  void init() { folder_ = std::make_unique<QTemporaryDir>(); }

  // And our header and their order of tensors make the same file again, byte for byte.
  void weReadWhatPythonWrote() {
    const fs::path folder = Path("theirs");
    const QString wrong = Run(python_, {QStringLiteral("write"), QString::fromStdString(folder)});
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    std::mt19937_64 rng(test::Seed());
    for (const char* kind : {"every", "pairs", "names", "nothing"}) {
      const fs::path file = folder / (std::string(kind) + ".safetensors");
      const auto opened = Checkpoint::Open(file);
      VERIFY_OK(opened);
      const auto expected = LoadExpected(folder / kind);
      const QString differs = test::Differs(**opened, expected, rng);
      QVERIFY2(differs.isEmpty(), qPrintable(differs));
      VERIFY_OK(test::WriteCheckpoint(Format::kSafetensors, Path(kind), expected,
                                      test::WholePieces(expected),
                                      {.metadata = (*opened)->metadata()}));
      if ((*opened)->metadata().size() <= 1) {
        QCOMPARE(QByteArray::fromStdString(test::ReadText(Path(kind))),
                 QByteArray::fromStdString(test::ReadText(file)));
      } else {  // their order of metadata changes from run to run
        QCOMPARE(test::ReadText(Path(kind)).size(), test::ReadText(file).size());
      }
    }
  }

  void pythonReadsWhatWeMakeOfPythons_data() {
    QTest::addColumn<int>("format");
    QTest::newRow("one file") << static_cast<int>(Format::kSafetensors);
    QTest::newRow("huggingface") << static_cast<int>(Format::kHuggingFace);
  }
  void pythonReadsWhatWeMakeOfPythons() {
    QFETCH(int, format);
    const fs::path folder = Path("theirs");
    const QString written = Run(python_, {QStringLiteral("write"), QString::fromStdString(folder)});
    QVERIFY2(written.isEmpty(), qPrintable(written));
    for (const std::string kind : {"every", "names", "nothing"}) {
      const fs::path file = folder / (kind + ".safetensors");
      const QString wrong = Resharded(file, static_cast<Format>(format), folder / kind);
      QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
      const auto theirs = Checkpoint::Open(file);
      const auto ours = Checkpoint::Open(Path("ours"));
      VERIFY_OK(theirs);
      VERIFY_OK(ours);
      if (kind == "nothing") continue;
      QCOMPARE((*ours)->metadata().at("note"), (*theirs)->metadata().at("note"));
    }
  }

  void pythonReadsWhatWeMakeOfOurs_data() { pythonReadsWhatWeMakeOfPythons_data(); }
  void pythonReadsWhatWeMakeOfOurs() {
    QFETCH(int, format);
    std::mt19937_64 rng(test::Seed() + 1);
    const auto tensors = Samples(rng);
    SaveExpected(Path("expected"), tensors);
    VERIFY_OK(test::WriteCheckpoint(Format::kHuggingFace, Path("source"), tensors,
                                    test::WholePieces(tensors), {.file_bytes = 3000}));
    const QString wrong = Resharded(Path("source"), static_cast<Format>(format), Path("expected"));
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

  void pythonReadsFilesByNumber() {
    std::mt19937_64 rng(test::Seed() + 4);
    const auto tensors = Samples(rng);
    SaveExpected(Path("expected"), tensors);
    VERIFY_OK(test::WriteCheckpoint(Format::kSafetensors, Path("source"), tensors,
                                    test::WholePieces(tensors)));
    const auto source = Checkpoint::Open(Path("source"));
    VERIFY_OK(source);
    const auto report = reshard::Reshard(**source, Path("ours"),
                                         {.format = Format::kHuggingFace, .files = {.count = 7}});
    VERIFY_OK(report);
    QCOMPARE(report->num_files, std::int64_t{7});
    const QString wrong =
        Run(python_, {QStringLiteral("check"), QString::fromStdString(Path("ours")),
                      QString::fromStdString(Path("expected"))});
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

  void torchLoadsOurShards() {
    if (torch_.program.isEmpty()) QSKIP(qPrintable(torch_.why));
    std::mt19937_64 rng(test::Seed() + 2);
    for (int i = 0; i < 2; ++i) {
      auto tensors = Samples(rng);
      // The one type that torch's reader has no name for; a file that has it is not read at all.
      std::erase_if(tensors,
                    [](const SampleTensor& tensor) { return tensor.dtype == ptc::DType::kF8E8M0; });
      fs::remove_all(Path("expected"));
      SaveExpected(Path("expected"), tensors);
      VERIFY_OK(test::WriteCheckpoint(Format::kSafetensors, Path("source"), tensors,
                                      test::WholePieces(tensors)));
      const auto source = Checkpoint::Open(Path("source"));
      VERIFY_OK(source);
      VERIFY_OK(reshard::Reshard(**source, Path("ours"),
                                 {.format = Format::kShardedSafetensors,
                                  .layout = test::AnyLayout(rng, FormsOf(**source)),
                                  .replace = true,
                                  .tile_bytes = 256}));
      const QString wrong =
          Run(torch_, {QStringLiteral("dcp_check"), QString::fromStdString(Path("ours")),
                       QString::fromStdString(Path("expected"))});
      QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }
  }

  void weReadTheShardsOfTorch() {
    if (torch_.program.isEmpty()) QSKIP(qPrintable(torch_.why));
    const fs::path folder = Path("theirs");
    fs::create_directory(folder);
    const QString wrong =
        Run(torch_, {QStringLiteral("dcp_write"), QString::fromStdString(folder)});
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    const auto expected = LoadExpected(folder / "expected");
    std::mt19937_64 rng(test::Seed() + 3);
    for (const char* kind : {"sharded", "plain"}) {
      const auto opened = Checkpoint::Open(folder / kind);
      QVERIFY2(opened.has_value(), opened ? "" : opened.error().ToString().c_str());
      const QString differs = test::Differs(**opened, expected, rng);
      QVERIFY2(differs.isEmpty(), qPrintable(differs));
      const QString resharded = Resharded(folder / kind, Format::kSafetensors, folder / "expected");
      QVERIFY2(resharded.isEmpty(), qPrintable(resharded));
    }
  }
};

TESSERA_TEST(SafetensorsPythonTest)
#include "safetensors_python_test.moc"
