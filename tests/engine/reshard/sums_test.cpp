// SPDX-License-Identifier: Apache-2.0
// Sums that checkpoints state of their bytes: right ones pass, damage is named.
#include "engine/reshard/sums.h"

#include <QCryptographicHash>
#include <filesystem>

#include "tests/engine/checkpoint/torch/torch_builder.h"
#include "tests/engine/reshard/reshard_fixture.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

namespace tessera::reshard {
namespace {

namespace fs = std::filesystem;
using checkpoint::Checkpoint;

class SumsTest : public test::ReshardFixture {
  Q_OBJECT

 private slots:
  void init() {
    NewFolder();
    // Floats that no other part of an archive looks like.
    archive_ =
        test::TorchSave({"FloatStorage", test::Floats({1.5F, 2.5F, 3.5F, 4.5F}), 4, {4}, {1}});
  }

  void archivesOfADcpFolder() {
    WriteFolder("dcp");
    const auto checked = Check("dcp");
    VERIFY_OK(checked);
    QVERIFY(checked->count >= 4);  // data.pkl and data/0 of two archives
    QVERIFY(checked->bytes >= 32);
    Damage("dcp/__0_0.distcp");
    VERIFY_ERROR(Check("dcp"), ErrorCode::kDataLoss, "data/0' has CRC-32 ");
    VERIFY_ERROR(Check("dcp"), ErrorCode::kDataLoss, "__0_0.distcp' at byte ");
    VERIFY_ERROR(Check("dcp"), ErrorCode::kDataLoss, ", its archive states ");
  }

  void aFileOfTorchSave() {
    test::WriteFile(Path("w.pt"), archive_);
    VERIFY_OK(Check("w.pt"));
    Damage("w.pt");
    VERIFY_ERROR(Check("w.pt"), ErrorCode::kDataLoss, "w.pt' at byte ");
  }

  // torch.serialization.set_crc32_options(False): zeros instead of sums.
  void zeroStatesNothing() {
    for (std::size_t at = archive_.find("PK\x01\x02"); at != std::string::npos;
         at = archive_.find("PK\x01\x02", at + 4)) {
      archive_.replace(at + 16, 4, 4, '\0');
    }
    test::WriteFile(Path("w.pt"), archive_);
    Damage("w.pt");
    const auto checked = Check("w.pt");
    VERIFY_OK(checked);
    QCOMPARE(checked->count, std::int64_t{0});
  }

  void integrityOfMegatron() {
    const std::string file = WriteMegatron();
    Integrity("sha256", "__0_0.distcp", Sha256(file));
    const auto checked = Check("iter_0000001");
    VERIFY_OK(checked);
    QVERIFY(checked->bytes > static_cast<std::int64_t>(fs::file_size(file)));
    const std::string other(64, 'a');
    Integrity("sha256", "__0_0.distcp", other);
    VERIFY_ERROR(Check("iter_0000001"), ErrorCode::kDataLoss,
                 "'" + file + "' has SHA-256 " + Sha256(file) + ", integrity.json states " + other);
    // And before a reshard that is to verify: nothing is left of it.
    const auto source = Checkpoint::Open(Path("iter_0000001"));
    VERIFY_OK(source);
    VERIFY_ERROR(Reshard(**source, Path("out.safetensors"), {.verify = true}), ErrorCode::kDataLoss,
                 "integrity.json states");
    QVERIFY(!fs::exists(Path("out.safetensors")) && !fs::exists(Path("out.safetensors.partial")));
  }

  void integrityThatIsNone_data() {
    QTest::addColumn<QByteArray>("algorithm");
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QByteArray>("sum");
    QTest::addColumn<QByteArray>("says");
    const QByteArray sum(64, '0');
    const QByteArray name = "__0_0.distcp";
    QTest::newRow("another algorithm") << QByteArray("md5") << name << sum
                                       << QByteArray("at byte 14: algorithm 'md5' is not 'sha256'");
    QTest::newRow("outside") << QByteArray("sha256") << QByteArray("../x") << sum
                             << QByteArray("file '../x' lies outside the folder");
    QTest::newRow("short sum") << QByteArray("sha256") << name << QByteArray("12")
                               << QByteArray("the sum of '__0_0.distcp' is not 64 hex digits");
    QTest::newRow("missing file") << QByteArray("sha256") << QByteArray("gone") << sum
                                  << QByteArray("gone");
  }
  void integrityThatIsNone() {
    QFETCH(QByteArray, algorithm);
    QFETCH(QByteArray, file);
    QFETCH(QByteArray, sum);
    QFETCH(QByteArray, says);
    WriteMegatron();
    Integrity(algorithm.toStdString(), file.toStdString(), sum.toStdString());
    const auto checked = Check("iter_0000001");
    QVERIFY(!checked);
    QVERIFY2(checked.error().ToString().find(says.toStdString()) != std::string::npos,
             checked.error().ToString().c_str());
  }

  void stops() {
    WriteFolder("dcp");
    const auto opened = Checkpoint::Open(Path("dcp"));
    VERIFY_OK(opened);
    VERIFY_ERROR(CheckSums(**opened, {.watch = [](const Progress&) { return false; }}),
                 ErrorCode::kCancelled, "interrupted");
  }

 private:
  void WriteFolder(const std::string& name) const {
    test::WriteDcp(Path(name), {{{"a", "float32", {4}, {{{0}, {4}, archive_, "__0_0.distcp"}}},
                                 {"b", "float32", {4}, {{{0}, {4}, archive_, "__0_0.distcp"}}}}});
  }
  /// \return the file with tensors
  std::string WriteMegatron() const {
    WriteFolder("iter_0000001");
    test::WriteFile(Path("iter_0000001/metadata.json"),
                    R"({"sharded_backend": "torch_dist", "sharded_backend_version": 1})");
    return Path("iter_0000001/__0_0.distcp");
  }
  void Integrity(const std::string& algorithm, const std::string& file,
                 const std::string& sum) const {
    test::WriteFile(
        Path("iter_0000001/integrity.json"),
        R"({"algorithm": ")" + algorithm + R"(", "files": {")" + file + R"(": ")" + sum + R"("}})");
  }
  static std::string Sha256(const std::string& path) {
    const auto bytes = QByteArray::fromStdString(test::Slurp(path));
    return QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex().toStdString();
  }
  /// Turns a bit of the first tensor over.
  void Damage(const std::string& name) const {
    std::string bytes = test::Slurp(Path(name));
    const std::size_t at = bytes.find(test::Floats({1.5F, 2.5F, 3.5F, 4.5F}));
    QVERIFY(at != std::string::npos);
    bytes[at + 1] = static_cast<char>(static_cast<unsigned char>(bytes[at + 1]) ^ 1U);
    test::WriteFile(Path(name), bytes);
  }
  Result<SumsChecked> Check(const std::string& name) const {
    const auto opened = Checkpoint::Open(Path(name));
    if (!opened) return opened.error();
    return CheckSums(**opened, {});
  }

  std::string archive_;
};

}  // namespace
}  // namespace tessera::reshard

TESSERA_TEST(tessera::reshard::SumsTest)
#include "sums_test.moc"
