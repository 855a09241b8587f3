// SPDX-License-Identifier: Apache-2.0
#include "engine/search/choice.h"

#include <QTest>
#include <algorithm>
#include <set>

#include "tests/support/random.h"
#include "tests/support/verify.h"

using namespace tessera;
using engine::ChooseMesh;
using ptc::Axis;
using ptc::DeviceId;

namespace {

ptc::MeshShape Mesh(const char* text) { return *ptc::ParseMeshShape(text); }
std::vector<DeviceId> Devices(const char* text) { return *ptc::ParseDevices(text); }

}  // namespace

class ChoiceTest : public QObject {
  Q_OBJECT
 private slots:
  void takesTheLargestDp_data() {
    QTest::addColumn<QString>("devices");
    QTest::addColumn<QString>("current");
    QTest::addColumn<qint64>("batch");
    QTest::addColumn<QString>("mesh");
    QTest::addColumn<QString>("idle");
    QTest::newRow("grow to all") << "2x4"
                                 << "dp=2,tp=2" << qint64{16} << "dp=4,tp=2,pp=1"
                                 << "";
    QTest::newRow("shrink to one replica") << "n0g2,n0g3"
                                           << "dp=4,tp=2" << qint64{16} << "dp=1,tp=2,pp=1"
                                           << "";
    QTest::newRow("an odd device is left over") << "n0g0,n0g1,n0g2,n0g3,n1g0"
                                                << "dp=1,tp=2" << qint64{16} << "dp=2,tp=2,pp=1"
                                                << "n1g0";
    QTest::newRow("the batch does not divide") << "n0g0,n0g1,n0g2"
                                               << "dp=1,tp=1" << qint64{16} << "dp=2,tp=1,pp=1"
                                               << "n0g2";
    QTest::newRow("a small batch") << "2x4"
                                   << "dp=1,tp=1" << qint64{3} << "dp=3,tp=1,pp=1"
                                   << "n0g3,n1g0,n1g1,n1g2,n1g3";
    QTest::newRow("pipeline stages stay") << "2x4"
                                          << "dp=1,tp=2,pp=2" << qint64{16} << "dp=2,tp=2,pp=2"
                                          << "";
  }
  void takesTheLargestDp() {
    QFETCH(QString, devices);
    QFETCH(QString, current);
    QFETCH(qint64, batch);
    const auto choice = ChooseMesh(Mesh(current.toUtf8().constData()), batch,
                                   Devices(devices.toUtf8().constData()));
    VERIFY_OK(choice);
    QTEST(QString::fromStdString(ptc::ToString(choice->mesh)), "mesh");
    QTEST(QString::fromStdString(ptc::ToString(choice->idle)), "idle");
    QCOMPARE(std::ssize(choice->used), choice->mesh.num_ranks());
  }

  void devicesOfTheJobAreUsedFirst() {
    const auto choice = ChooseMesh(Mesh("dp=1,tp=2"), 16, Devices("n1g3,n0g0,n1g2,n0g1,n0g2"),
                                   Devices("n1g2,n1g3"));
    VERIFY_OK(choice);
    QCOMPARE(ptc::ToString(choice->used), std::string("n0g0,n0g1,n1g2,n1g3"));
    QCOMPARE(ptc::ToString(choice->idle), std::string("n0g2"));
  }

  void theReasonIsASentence() {
    QCOMPARE(ChooseMesh(Mesh("dp=2,tp=2"), 16, Devices("2x4"))->why,
             std::string("tp = 2 stays; dp = 4 is the largest that fits 8 devices and divides the "
                         "batch of 16."));
    QCOMPARE(ChooseMesh(Mesh("tp=1"), 16, Devices("n0g0,n0g1,n0g2"))->why,
             std::string("tp = 1 stays; dp = 2 is the largest that fits 3 devices and divides the "
                         "batch of 16; n0g2 stays idle."));
    QCOMPARE(ChooseMesh(Mesh("tp=1"), 4, Devices("n0g0,n0g1,n0g2,n0g3,n1g0,n1g1,n1g2"))->why,
             std::string("tp = 1 stays; dp = 4 is the largest that fits 7 devices and divides the "
                         "batch of 4; n1g0, n1g1 and n1g2 stay idle."));
  }

  void tooFewDevicesAreRefusedWithTheSmallestSetThatFits() {
    VERIFY_ERROR(ChooseMesh(Mesh("dp=2,tp=2"), 16, Devices("n0g0")), ErrorCode::kInvalidArgument,
                 "1 device cannot hold tp = 2: the smallest set that fits has 2 devices");
    VERIFY_ERROR(ChooseMesh(Mesh("pp=2,tp=4"), 16, Devices("n0g0,n0g1,n0g2")),
                 ErrorCode::kInvalidArgument,
                 "3 devices cannot hold pp = 2, tp = 4: the smallest set that fits has 8 devices");
    VERIFY_ERROR(ChooseMesh(Mesh("tp=1"), 16, {}), ErrorCode::kInvalidArgument, "no device");
    VERIFY_ERROR(ChooseMesh(Mesh("tp=1"), 0, Devices("n0g0")), ErrorCode::kInvalidArgument,
                 "global batch = 0");
  }

  void limitsOfTheJobAreRespected() {
    const auto at_most_two = [](const ptc::MeshShape& mesh) -> Status {
      if (mesh[Axis::kDp] <= 2) return OkStatus();
      return InvalidArgument("dp above 2");
    };
    const auto choice = ChooseMesh(Mesh("tp=2"), 16, Devices("2x4"), {}, at_most_two);
    VERIFY_OK(choice);
    QCOMPARE(choice->mesh[Axis::kDp], 2);
    QVERIFY(choice->why.find("among those that the job can run") != std::string::npos);
    const auto never = [](const ptc::MeshShape& mesh) -> Status {
      return InvalidArgument("no dp = " + std::to_string(mesh[Axis::kDp]));
    };
    VERIFY_ERROR(ChooseMesh(Mesh("tp=2"), 16, Devices("2x4"), {}, never),
                 ErrorCode::kInvalidArgument, "no dp = 1");
  }

  // Against a search over all dp, with the devices accounted for.
  void isTheBestOfAll() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 500; ++i) {
      std::vector<DeviceId> devices;
      for (std::int32_t d = 0; d < 20; ++d) {
        if (rng() % 2 == 0) devices.push_back({d / 4, d % 4});
      }
      std::shuffle(devices.begin(), devices.end(), rng);
      ptc::MeshShape current;
      current[Axis::kTp] = 1 + static_cast<std::int64_t>(rng() % 4);
      const auto batch = 1 + static_cast<std::int64_t>(rng() % 24);
      std::int64_t best = 0;
      for (std::int64_t dp = 1; dp <= 20; ++dp) {
        if (batch % dp == 0 && dp * current[Axis::kTp] <= std::ssize(devices)) best = dp;
      }
      const auto choice = ChooseMesh(current, batch, devices);
      QCOMPARE(choice.has_value(), best > 0);
      if (!choice) continue;
      QCOMPARE(choice->mesh[Axis::kDp], best);
      QCOMPARE(choice->mesh[Axis::kTp], current[Axis::kTp]);
      std::vector<DeviceId> all = choice->used;
      all.insert(all.end(), choice->idle.begin(), choice->idle.end());
      QVERIFY(std::is_sorted(all.begin(), all.end()));  // used are the lowest
      std::sort(devices.begin(), devices.end());
      QVERIFY(all == devices);
    }
  }
};
QTEST_APPLESS_MAIN(ChoiceTest)
#include "choice_test.moc"
