// SPDX-License-Identifier: Apache-2.0
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "engine/checkpoint/torch/torch.h"
#include "tests/folders.h"
#include "tests/python/python.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using checkpoint::Checkpoint;
using ptc::Box;

namespace {

namespace fs = std::filesystem;

struct Expected {
  std::string dtype;
  ptc::Shape shape;
  std::string bytes;
};
/// By checkpoint and name.
using AllExpected = std::map<std::string, std::map<std::string, Expected>>;

std::string ReadFile(const fs::path& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

AllExpected ReadExpected(const fs::path& folder) {
  AllExpected all;
  const auto text = QByteArray::fromStdString(ReadFile(folder / "expected.json"));
  for (const auto& value : QJsonDocument::fromJson(text).array()) {
    const QJsonObject row = value.toObject();
    const auto field = [&](const char* key) {
      return row.value(QLatin1String(key)).toString().toStdString();
    };
    Expected expected{field("dtype"), {}, ReadFile(folder / field("file"))};
    for (const auto& size : row.value(QLatin1String("shape")).toArray()) {
      expected.shape.push_back(size.toInteger());
    }
    all[field("checkpoint")][field("name")] = std::move(expected);
  }
  return all;
}

Box PartOf(const Box& whole, std::mt19937_64& rng) {
  std::vector<ptc::Interval> dims;
  for (int d = 0; d < whole.rank(); ++d) {
    const auto size = static_cast<std::uint64_t>(whole[d].size());
    const auto begin = static_cast<std::int64_t>(rng() % size);
    const auto left = size - static_cast<std::uint64_t>(begin);
    dims.push_back({begin, begin + 1 + static_cast<std::int64_t>(rng() % left)});
  }
  return *Box::Make(dims);
}

/// The elements of `part`, element by element, from row-major bytes of `whole`.
std::string Cut(const std::string& bytes, const Box& whole, const Box& part, std::size_t element) {
  std::string out;
  for (std::int64_t i = 0; i < part.num_elements(); ++i) {
    std::int64_t rest = i;
    std::int64_t at = 0;
    std::int64_t stride = 1;
    for (int d = part.rank() - 1; d >= 0; --d) {
      at += (part[d].begin + rest % part[d].size()) * stride;
      rest /= part[d].size();
      stride *= whole[d].size();
    }
    out += bytes.substr(static_cast<std::size_t>(at) * element, element);
  }
  return out;
}

}  // namespace

class TorchPythonTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_dir;
  AllExpected m_expected;
  fs::path dir() const { return m_dir.path().toStdString(); }

 private slots:
  void initTestCase() {
    const test::Python python =
        test::FindPython({QStringLiteral("torch"), QStringLiteral("torch.distributed.checkpoint"),
                          QStringLiteral("torch.distributed.tensor")});
    if (python.program.isEmpty()) {
      QSKIP(qPrintable(python.why));
    }
    const QString wrong = test::RunScript(python, QStringLiteral("torch_judge.py"), {m_dir.path()});
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    m_expected = ReadExpected(dir());
    QCOMPARE(m_expected.size(), std::size_t{5});
  }

  void readsWhatTorchWrote_data() {
    QTest::addColumn<QByteArray>("format");
    for (const auto& [name, format] :
         std::initializer_list<std::pair<const char*, const char*>>{{"dcp", "dcp"},
                                                                    {"sharded", "dcp"},
                                                                    {"megatron", "megatron"},
                                                                    {"state.pt", "torch"},
                                                                    {"model", "torch"}}) {
      QTest::newRow(name) << QByteArray(format);
    }
  }
  void readsWhatTorchWrote() {
    QFETCH(QByteArray, format);
    const auto opened = Checkpoint::Open((dir() / QTest::currentDataTag()).string());
    QVERIFY2(opened, opened ? "" : opened.error().ToString().c_str());
    const Checkpoint& c = **opened;
    QCOMPARE(QByteArray::fromStdString(std::string(checkpoint::ToString(c.format()))), format);
    const auto& expected = m_expected.at(QTest::currentDataTag());
    QCOMPARE(c.tensors().size(), expected.size());
    std::mt19937_64 rng(test::Seed());
    for (std::size_t t = 0; t < c.tensors().size(); ++t) {
      const auto& tensor = c.tensors()[t];
      QVERIFY2(expected.contains(tensor.name), tensor.name.c_str());
      const Expected& want = expected.at(tensor.name);
      QCOMPARE(std::string(ptc::ToString(tensor.dtype)), want.dtype);
      QCOMPARE(tensor.shape, want.shape);
      const auto whole = Box::Whole(tensor.shape);
      if (!whole) continue;
      const auto element = static_cast<std::size_t>(ptc::SizeBytes(tensor.dtype));
      for (int round = 0; round < 8; ++round) {
        const Box box = round == 0 ? *whole : PartOf(*whole, rng);
        std::string bytes(static_cast<std::size_t>(box.num_elements()) * element, '\0');
        const auto status =
            c.Read(static_cast<int>(t), box, std::as_writable_bytes(std::span(bytes)));
        QVERIFY2(status, status ? "" : status.error().ToString().c_str());
        QVERIFY2(bytes == Cut(want.bytes, *whole, box, element),
                 (tensor.name + " " + ptc::ToString(box)).c_str());
      }
    }
  }

  void whatElseStandsThere() {
    const auto megatron = Checkpoint::Open((dir() / "megatron").string());
    QVERIFY2(megatron, megatron ? "" : megatron.error().ToString().c_str());
    const std::string& common = (*megatron)->metadata().at("common");
    for (const char* part : {"\"hidden_size\":64", "\"params_dtype\":\"torch.bfloat16\"",
                             "\"save\":\"/checkpoints\"", "\"betas\":[0.9,0.95]"}) {
      QVERIFY2(common.find(part) != std::string::npos, common.c_str());
    }
    QCOMPARE((*megatron)->opaque(), std::vector<std::string>{"rng_state/shard_0.0_1.1.random"});
    const auto state = Checkpoint::Open((dir() / "state.pt").string());
    QVERIFY(state);
    QCOMPARE((*state)->metadata().at("epoch"), std::string("3"));
  }

  // Also with parameters that a step has not used, and which programs the package refuses.
  void aLoopOfTesseraTrainsAsAnOrdinaryOne() {
    const test::Python python =
        test::FindPython({QStringLiteral("torch"), QStringLiteral("torch.distributed.fsdp")});
    if (python.program.isEmpty()) QSKIP(qPrintable(python.why));
    const QString wrong = test::RunScript(python, QStringLiteral("torch_program_judge.py"),
                                          {QStringLiteral(TESSERA_SOURCE_DIR "/agents/python")});
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }
};

TESSERA_TEST(TorchPythonTest)
#include "torch_python_test.moc"
