// SPDX-License-Identifier: Apache-2.0
#include "agents/views/snapshot_row.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include "engine/model/gpt.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

SnapshotRow SomeRow() {
  const auto tensors = engine::MakeCollection({.model = *engine::FindModel("gpt-nano")}, false);
  auto layout = *ptc::Layout::Make(*ptc::ParseDeviceMesh("dp=1,tp=1,pp=2 on n0g0,n1g0"), *tensors);
  return {7, {"nano", 3, 2, 40, std::move(layout)}, "0123456789abcdef", 1};
}

}  // namespace

class SnapshotRowTest : public QObject {
  Q_OBJECT
 private slots:
  void comesBackAsItWas() {
    const SnapshotRow row = SomeRow();
    const auto read = ParseSnapshotRow("snapshot/7", ToText(row));
    VERIFY_OK(read);
    QCOMPARE(read->id, row.id);
    QCOMPARE(read->state.step, row.state.step);
    QCOMPARE(read->state.layout.hash(), row.state.layout.hash());
    QCOMPARE(read->digest, row.digest);
    QCOMPARE(read->of_timeline, row.of_timeline);
  }

  // Its digest must not be compared with those of this version.
  void aDigestOfAnotherAlgorithmIsUnknown() {
    for (const char* const algorithm : {"", "another"}) {
      auto json = nlohmann::json::parse(ToText(SomeRow()));
      QCOMPARE(json["digest_algorithm"].get<std::string>(), std::string("linear32-1"));
      json["digest_algorithm"] = algorithm;
      if (*algorithm == '\0') json.erase("digest_algorithm");
      const auto read = ParseSnapshotRow("snapshot/7", json.dump());
      VERIFY_OK(read);
      QCOMPARE(read->digest, std::string());
      QCOMPARE(read->state.step, std::int64_t{40});
    }
  }

  void damagedRowsAreErrors() {
    VERIFY_ERROR(ParseSnapshotRow("snapshot/7", "{"), ErrorCode::kDataLoss, "snapshot/7");
    VERIFY_ERROR(ParseSnapshotRow("snapshot/7", R"({"id":7})"), ErrorCode::kDataLoss, "snapshot/7");
  }
};
TESSERA_TEST_APPLESS(SnapshotRowTest)
#include "snapshot_row_test.moc"
