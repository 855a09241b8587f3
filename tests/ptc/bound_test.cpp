// SPDX-License-Identifier: Apache-2.0
// Plans and schedules of random changes against the certificate, which shares no code with them.
#include <QTest>
#include <cmath>

#include "ptc/certificate/certificate.h"
#include "ptc/schedule/schedule.h"
#include "tests/ptc/changes.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;

class BoundTest : public QObject {
  Q_OBJECT
 private slots:
  // With direct sends the busiest port is within a hundredth of the optimum; with relay it is never
  // above it. No schedule beats a bound, and exactly the necessary bytes move.
  void plansAreNearTheirBounds() {
    std::mt19937_64 rng(test::Seed());
    int moving = 0;
    for (int i = 0; i < 40; ++i) {
      const test::Change change = test::AnyChange(rng, 3);
      const auto plan =
          ptc::MakePlan(change.from, change.to, change.topology, {.lost = change.lost});
      QVERIFY(plan);
      const ptc::Certificate certificate =
          ptc::Certify(change.from, change.to, change.topology, change.lost, plan->port_prices);
      QCOMPARE(plan->bytes.moved(), certificate.volume);
      const auto seconds = [&](bool relay) {
        const auto schedule =
            ptc::MakeSchedule(*plan, change.from, change.to, change.topology, {.relay = relay});
        return schedule ? schedule->busiest.seconds : NAN;
      };
      const double direct = certificate.direct.seconds;
      if (direct == 0) continue;
      ++moving;
      constexpr double kRounding = 1e-9;
      QVERIFY2(plan->transfer_seconds >= direct * (1 - kRounding), change.text.c_str());
      QVERIFY2(plan->transfer_seconds <= direct * 1.01, change.text.c_str());
      // Schedules support neither storage nor the ports of racks.
      if (plan->bytes.storage > 0 || change.topology.rack_bytes_per_second) continue;
      QVERIFY2(seconds(false) >= direct * (1 - kRounding), change.text.c_str());
      QVERIFY2(seconds(false) <= direct * 1.01, change.text.c_str());
      QVERIFY2(seconds(true) >= certificate.relayed.seconds * (1 - kRounding), change.text.c_str());
      QVERIFY2(seconds(true) <= direct * (1 + kRounding), change.text.c_str());
    }
    QVERIFY(moving > 15);
  }
};

TESSERA_TEST_APPLESS(BoundTest)
#include "bound_test.moc"
