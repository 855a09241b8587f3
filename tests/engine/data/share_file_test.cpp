// SPDX-License-Identifier: Apache-2.0
#include "engine/data/formats/share_file.h"

#include <QTest>
#include <random>

#include "engine/data/formats/megatron.h"
#include "engine/data/formats/megatron_index.h"
#include "engine/data/formats/tar.h"
#include "engine/data/formats/tfrecord.h"
#include "engine/data/text_dataset.h"
#include "tests/engine/data/data_files.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using engine::DataMix;
using engine::SampleId;
using engine::ShareEnding;
using test::InMemory;
using test::SomeLetters;
using test::TarMemberBytes;
using test::TfRecordFrame;

namespace {

constexpr std::int64_t kSequence = 7;
constexpr std::int64_t kWindow = kSequence + 1;

engine::DatasetPtr TextOf(std::string bytes) {
  return std::make_shared<const engine::TextDataset>(
      *engine::TextDataset::Make({InMemory("a.txt", std::move(bytes))}, kSequence));
}
engine::DatasetPtr TfRecordsOf(std::string bytes) {
  return *engine::OpenTfRecords({InMemory("a.tfrecord", std::move(bytes))}, kSequence, {});
}
engine::DatasetPtr TarOf(std::string bytes) {
  return *engine::OpenTar({InMemory("a.tar", std::move(bytes))}, kSequence, {});
}
engine::DatasetPtr MegatronOf(std::string bin, std::string idx, std::int64_t sequence = kSequence) {
  return *engine::OpenMegatron(
      {{InMemory("a.bin", std::move(bin)), InMemory("a.idx", std::move(idx))}}, sequence, {});
}
DataMix MixOf(std::vector<engine::DatasetPtr> parts) {
  std::vector<DataMix::Part> weighted;
  for (auto& part : parts) weighted.push_back({std::move(part), 0});
  return *DataMix::Make(std::move(weighted));
}

std::string RecordOf(const engine::Dataset& data, std::int64_t sample) {
  const auto record = data.ReadRecord(sample);
  return record ? test::AsText(*record) : record.error().ToString();
}
std::string RecordsOf(const DataMix& data, const std::vector<SampleId>& samples) {
  std::string all;
  for (const SampleId& id : samples) {
    all += RecordOf(*data.parts()[static_cast<std::size_t>(id.part)].data, id.sample);
  }
  return all;
}
/// Any samples, some of them several times, at times two equal ones side by side.
std::vector<SampleId> AnySamples(std::mt19937_64& rng, const DataMix& data) {
  std::vector<SampleId> samples;
  for (std::size_t count = 1 + rng() % 9; samples.size() < count;) {
    const std::size_t part = rng() % data.parts().size();
    const auto own = static_cast<std::uint64_t>(data.parts()[part].data->num_samples());
    samples.push_back({static_cast<int>(part), static_cast<std::int64_t>(rng() % own)});
    if (rng() % 4 == 0) samples.push_back(samples.back());
  }
  return samples;
}
/// The file, or its error; also empty if its size differs from the stated one.
std::string FileOf(const DataMix& data, const std::vector<SampleId>& samples, ShareEnding ending) {
  const auto size = engine::ShareFileBytes(data, samples, ending);
  auto file = engine::MakeShareFile(data, samples, ending);
  if (!file || !size) return file ? size.error().ToString() : file.error().ToString();
  return std::ssize(*file) == *size ? *file : std::string();
}

/// A pax header that gives the next member its name.
std::string PaxName(const std::string& name) {
  const std::string rest = " path=" + name + "\n";
  std::string length = std::to_string(rest.size() + 2);
  if (length.size() > 2) length = std::to_string(rest.size() + 3);
  return TarMemberBytes("PaxHeaders/x", length + rest, 'x');
}
/// A sample of two members.
/// \param kind 0: names in headers, 1: long names of GNU, 2: pax
std::string TarSample(const std::string& name, const std::string& data, int kind) {
  std::string bytes;
  for (const std::string extension : {".txt", ".cls"}) {
    const std::string full = name + extension;
    const std::string shown = full.substr(0, 100);
    if (kind == 1) bytes += TarMemberBytes("././@LongLink", full + '\0', 'L');
    if (kind == 2) bytes += PaxName(full);
    bytes += TarMemberBytes(shown, extension == ".txt" ? data : "7" + data);
  }
  return bytes;
}

/// Says of any record that it has so many bytes.
class Claims final : public engine::Dataset {
 public:
  explicit Claims(std::int64_t bytes) : bytes_(bytes) {}
  engine::DataFormat format() const override { return engine::DataFormat::kTar; }
  std::int64_t sequence() const override { return kSequence; }
  std::int64_t num_samples() const override { return 10; }
  std::uint64_t fingerprint() const override { return 0; }
  Status ReadTokens(std::int64_t, std::span<std::int32_t>) const override { return OkStatus(); }
  Result<std::vector<std::byte>> ReadRecord(std::int64_t) const override {
    return DataLoss("data file 'x.tar' at byte 512: cut off");
  }
  std::int64_t RecordBytes(std::int64_t) const override { return bytes_; }
  std::string Describe(std::int64_t) const override { return "x.tar sample 3"; }

 private:
  const std::int64_t bytes_;
};

}  // namespace

class ShareFileTest : public QObject {
  Q_OBJECT
 private slots:
  void textIsItsWindows() {
    std::mt19937_64 rng(test::Seed());
    const DataMix data = MixOf({TextOf(SomeLetters(rng, 100)), TextOf(SomeLetters(rng, 60))});
    QVERIFY(engine::ShareEndings(data) == std::vector{ShareEnding::kText});
    const auto samples = AnySamples(rng, data);
    const std::string file = FileOf(data, samples, ShareEnding::kText);
    QCOMPARE(std::ssize(file), std::ssize(samples) * kWindow);
    QCOMPARE(file, RecordsOf(data, samples));
    const auto again = engine::TextDataset::Make({InMemory("b.txt", file)}, std::ssize(file) - 1);
    QCOMPARE(RecordOf(*again, 0), file);
  }

  void tfRecordsAreReadAgain() {
    std::mt19937_64 rng(test::Seed());
    std::string bytes;
    for (int i = 0; i < 12; ++i) bytes += TfRecordFrame(SomeLetters(rng, rng() % 40));
    const DataMix data = MixOf({TfRecordsOf(bytes)});
    QVERIFY(engine::ShareEndings(data) == std::vector{ShareEnding::kTfRecord});
    const auto samples = AnySamples(rng, data);
    const auto again = TfRecordsOf(FileOf(data, samples, ShareEnding::kTfRecord));
    QCOMPARE(again->num_samples(), std::ssize(samples));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      QCOMPARE(RecordOf(*again, static_cast<std::int64_t>(i)), RecordsOf(data, {samples[i]}));
    }
  }

  void megatronIsASequenceASample_data() {
    QTest::addColumn<int>("code");
    QTest::addColumn<int>("item");
    for (const auto& type : test::kMegatronTypes)
      QTest::newRow(type.name) << type.code << type.item;
  }
  void megatronIsASequenceASample() {
    QFETCH(int, code);
    QFETCH(int, item);
    std::mt19937_64 rng(test::Seed());
    const auto bin = [&] { return SomeLetters(rng, static_cast<std::size_t>(item) * 90); };
    const DataMix data = MixOf({MegatronOf(bin(), test::MegatronIdx({40, 50}, code, item)),
                                MegatronOf(bin(), test::MegatronIdx({90}, code, item))});
    QVERIFY(engine::ShareEndings(data) == (std::vector{ShareEnding::kBin, ShareEnding::kIdx}));
    const auto samples = AnySamples(rng, data);
    const std::string file = FileOf(data, samples, ShareEnding::kBin);
    const std::string idx = FileOf(data, samples, ShareEnding::kIdx);
    QCOMPARE(file, RecordsOf(data, samples));
    QCOMPARE(idx,
             test::MegatronIdx(std::vector<std::int32_t>(samples.size(), kWindow), code, item));
    const auto again = MegatronOf(file, idx, std::ssize(file) / item - 1);
    QCOMPARE(RecordOf(*again, 0), file);
    QVERIFY(again->token_type() == data.parts()[0].data->token_type());
  }

  void tarSamplesAreReadAgain() {
    std::mt19937_64 rng(test::Seed());
    std::string bytes;
    for (int i = 0; i < 12; ++i) {
      const std::string folder = rng() % 2 == 0 ? "" : "f" + std::string(rng() % 120, 'x') + "/";
      const std::string name = folder + std::to_string(i) + (i % 3 == 0 ? "\xc3\xa9" : "");
      const int kind = static_cast<int>(rng() % 3);
      bytes += TarSample(name, SomeLetters(rng, 1 + rng() % 600),
                         name.size() > 90 ? 1 + kind % 2 : kind);
    }
    const DataMix data = MixOf({TarOf(bytes + test::TarEnd())});
    QCOMPARE(data.num_samples(), std::int64_t{12});
    QVERIFY(engine::ShareEndings(data) == std::vector{ShareEnding::kTar});
    const auto samples = AnySamples(rng, data);
    const std::string file = FileOf(data, samples, ShareEnding::kTar);
    QVERIFY(file.ends_with(test::TarEnd()));
    const auto again = TarOf(file);
    QCOMPARE(again->num_samples(), std::ssize(samples));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      std::vector<std::int32_t> wanted(kWindow), got(kWindow);
      VERIFY_OK(data.ReadTokens(samples[i], wanted));
      VERIFY_OK(again->ReadTokens(static_cast<std::int64_t>(i), got));
      QVERIFY(got == wanted);
    }
    // What needs no other name is as it was.
    if (samples.size() == 1) QCOMPARE(file, RecordsOf(data, samples) + test::TarEnd());
  }

  void samplesOfOneNameStayTwo_data() {
    QTest::addColumn<int>("kind");
    QTest::newRow("names in headers") << 0;
    QTest::newRow("long names of GNU") << 1;
    QTest::newRow("pax") << 2;
  }
  void samplesOfOneNameStayTwo() {
    QFETCH(int, kind);
    const DataMix data =
        MixOf({TarOf(TarSample("d/1", "one", kind)), TarOf(TarSample("d/1", "two", kind)),
               TarOf(TarSample("d/~", "odd", kind))});
    const auto shown = [&](const std::vector<SampleId>& samples) {
      std::string all;
      const auto again = TarOf(FileOf(data, samples, ShareEnding::kTar));
      for (std::int64_t i = 0; i < again->num_samples(); ++i) {
        std::vector<std::int32_t> tokens(kWindow);
        if (!again->ReadTokens(i, tokens)) return std::string("not read");
        all += test::AsText(tokens) + " ";
      }
      return all;
    };
    QCOMPARE(shown({{0, 0}, {1, 0}}), std::string("one two "));
    QCOMPARE(shown({{0, 0}, {0, 0}, {0, 0}, {1, 0}}), std::string("one one one two "));
    QCOMPARE(shown({{0, 0}, {1, 0}, {2, 0}, {2, 0}, {2, 0}}), std::string("one two odd odd odd "));
    // A sample after one with another name keeps its own name.
    QCOMPARE(FileOf(data, {{0, 0}, {2, 0}, {1, 0}}, ShareEnding::kTar),
             RecordsOf(data, {{0, 0}, {2, 0}, {1, 0}}) + test::TarEnd());
  }

  void severalFormatsAreTokens() {
    std::mt19937_64 rng(test::Seed());
    const DataMix data = MixOf({TextOf(SomeLetters(rng, 100)), TfRecordsOf(TfRecordFrame("hello")),
                                MegatronOf(SomeLetters(rng, 180), test::MegatronIdx({90}, 8, 2))});
    QVERIFY(engine::ShareEndings(data) == (std::vector{ShareEnding::kBin, ShareEnding::kIdx}));
    const auto samples = AnySamples(rng, data);
    std::string wanted;
    for (const SampleId& id : samples) {
      std::vector<std::int32_t> tokens(kWindow);
      VERIFY_OK(data.ReadTokens(id, tokens));
      for (const std::int32_t token : tokens) wanted += test::Raw(token);
    }
    QCOMPARE(FileOf(data, samples, ShareEnding::kBin), wanted);
    QCOMPARE(FileOf(data, samples, ShareEnding::kIdx),
             test::MegatronIdx(std::vector<std::int32_t>(samples.size(), kWindow), 4, 4));
  }

  void severalDtypesAreTokens() {
    const DataMix data = MixOf({MegatronOf(std::string(20, 'a'), test::MegatronIdx({20}, 1, 1)),
                                MegatronOf(std::string(40, 'b'), test::MegatronIdx({20}, 3, 2))});
    const std::vector<SampleId> samples{{1, 0}, {0, 0}};
    std::string wanted;
    for (int i = 0; i < 8; ++i) wanted += test::Raw<std::int32_t>('b' * 257);
    for (int i = 0; i < 8; ++i) wanted += test::Raw<std::int32_t>('a');
    QCOMPARE(FileOf(data, samples, ShareEnding::kBin), wanted);
  }

  void noSamplesAreAFileToo() {
    const DataMix tar = MixOf({TarOf(TarSample("1", "one", 0))});
    QCOMPARE(FileOf(tar, {}, ShareEnding::kTar), test::TarEnd());
    const DataMix megatron =
        MixOf({MegatronOf(std::string(20, 'a'), test::MegatronIdx({20}, 1, 1))});
    QCOMPARE(FileOf(megatron, {}, ShareEnding::kIdx), test::MegatronIdx({}, 1, 1));
  }

  void tooMuchIsRefused() {
    const auto whole = [](std::int64_t bytes) { return MixOf({std::make_shared<Claims>(bytes)}); };
    const std::vector<SampleId> three(3);
    VERIFY_OK(engine::ShareFileBytes(whole(engine::kMaxShareBytes / 3), three, ShareEnding::kTar));
    VERIFY_ERROR(
        engine::ShareFileBytes(whole(engine::kMaxShareBytes / 3 + 1), three, ShareEnding::kTar),
        ErrorCode::kResourceExhausted, "the limit is 1073741824");
    VERIFY_ERROR(engine::ShareFileBytes(whole(std::int64_t{1} << 40), three, ShareEnding::kTar),
                 ErrorCode::kDataLoss, "x.tar sample 3 has 1099511627776 bytes");
    VERIFY_ERROR(engine::ShareFileBytes(whole(-1), three, ShareEnding::kTar), ErrorCode::kDataLoss,
                 "x.tar sample 3");
    VERIFY_ERROR(engine::MakeShareFile(whole(512), three, ShareEnding::kTar), ErrorCode::kDataLoss,
                 "data file 'x.tar' at byte 512");
  }
};

TESSERA_TEST_APPLESS(ShareFileTest)
#include "share_file_test.moc"
