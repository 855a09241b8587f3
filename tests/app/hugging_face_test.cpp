// SPDX-License-Identifier: Apache-2.0
#include "app/commands/hugging_face.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/manifest.h"
#include "engine/files/whole_file.h"
#include "tests/engine/checkpoint/sample_checkpoint.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::app;
using checkpoint::Manifest;
using ptc::TensorRole;

class HuggingFaceTest : public QObject {
  Q_OBJECT

  std::unique_ptr<QTemporaryDir> m_home;
  std::string m_saved, m_like;

  /// A checkpoint as a cluster saves it, of a module with a tied tensor, a buffer, and two optimizers.
  void save(bool withRoles) {
    struct Row {
      const char* name;
      TensorRole role;
      std::vector<std::string> aliases;
    };
    const std::vector<Row> rows = {
        {"head.weight", TensorRole::kParam, {"wte.weight"}},
        {"head.weight.exp_avg", TensorRole::kExpAvg, {}},
        {"head.weight.momentum_buffer", TensorRole::kBuffer, {}},
        {"head.weight.step", TensorRole::kScalar, {}},
        {"norm.running_mean", TensorRole::kBuffer, {}},
        {"norm.num_batches_tracked", TensorRole::kScalar, {}},
        {"tessera.step", TensorRole::kScalar, {}},
    };
    std::vector<test::SampleTensor> tensors;
    Manifest manifest;
    manifest.job = "own";
    manifest.digest = "00000000000000ff";
    for (const Row& row : rows) {
      const ptc::Shape shape = row.role == TensorRole::kScalar ? ptc::Shape{} : ptc::Shape{4};
      tensors.push_back({row.name, ptc::DType::kF32, shape,
                         std::vector<std::byte>(shape.empty() ? 4 : 16, std::byte{1})});
      Manifest::Tensor tensor{row.name, ptc::DType::kF32, shape, 0, {}, {}};
      if (withRoles) {
        tensor.role = row.role;
        tensor.aliases = row.aliases;
      }
      manifest.tensors.push_back(std::move(tensor));
    }
    VERIFY_OK(test::WriteCheckpoint(checkpoint::Format::kShardedSafetensors, m_saved, tensors,
                                    test::WholePieces(tensors)));
    VERIFY_OK(engine::WriteWholeFile(m_saved + "/tessera.json", ToText(manifest), 0666));
  }
  static std::vector<std::string> namesIn(const std::string& folder) {
    std::vector<std::string> out;
    const auto read = checkpoint::Checkpoint::Open(folder);
    if (!read) return out;
    for (const auto& tensor : (*read)->tensors()) out.push_back(tensor.name);
    return out;
  }

 private slots:
  void init() {
    m_home = test::TemporaryFolder();
    m_saved = m_home->filePath("own-step-3").toStdString();
    m_like = m_home->filePath("model").toStdString();
    QVERIFY(QDir().mkpath(QString::fromStdString(m_saved)));
    QVERIFY(QDir().mkpath(QString::fromStdString(m_like)));
  }

  void theModelWithoutTheOptimizer() {
    save(true);
    VERIFY_OK(engine::WriteWholeFile(m_like + "/config.json", "{}", 0666));
    VERIFY_OK(engine::WriteWholeFile(m_like + "/tokenizer.json", "{\"a\":1}", 0666));
    VERIFY_OK(engine::WriteWholeFile(m_like + "/old.safetensors", "weights", 0666));
    VERIFY_OK(engine::WriteWholeFile(m_like + "/model.safetensors.index.json", "{}", 0666));
    VERIFY_OK(checkLike(m_like));
    Invocation call;
    call.quiet = true;
    const auto written = writeHuggingFace(call, m_saved, m_like);
    VERIFY_OK(written);
    QCOMPARE(written->path, m_saved + "-huggingface");
    QCOMPARE(written->tensors, std::int64_t{4});
    QVERIFY(written->hasConfig);
    QCOMPARE(namesIn(written->path),
             (std::vector<std::string>{"head.weight", "norm.num_batches_tracked",
                                       "norm.running_mean", "wte.weight"}));
    const QString folder = QString::fromStdString(written->path);
    QVERIFY(QFile::exists(folder + "/tokenizer.json"));
    QVERIFY(!QFile::exists(folder + "/old.safetensors"));
    // A second time in place of the first.
    VERIFY_OK(writeHuggingFace(call, m_saved, ""));
    QVERIFY(!QFile::exists(folder + "/config.json"));
  }

  void whatCannotBeWrittenIsNamed() {
    Invocation call;
    call.quiet = true;
    VERIFY_ERROR(writeHuggingFace(call, m_saved, ""), ErrorCode::kNotFound, "no tessera.json");
    save(false);
    VERIFY_ERROR(writeHuggingFace(call, m_saved, ""), ErrorCode::kFailedPrecondition,
                 "which of its tensors are parameters");
    VERIFY_ERROR(checkLike(m_home->filePath("none").toStdString()), ErrorCode::kNotFound,
                 "is no folder on this machine");
    VERIFY_ERROR(checkLike(m_like), ErrorCode::kNotFound, "has no config.json");
  }
};

TESSERA_TEST(HuggingFaceTest)
#include "hugging_face_test.moc"
