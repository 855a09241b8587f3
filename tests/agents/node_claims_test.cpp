// SPDX-License-Identifier: Apache-2.0
// What a node says of itself: impossible numbers are refused before any client sees them.
#include "agents/registrar/node_claims.h"

#include <QTest>
#include <cmath>
#include <functional>
#include <limits>

#include "agents/wire/tessera/wire/node.pb.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

using Change = std::function<void(wire::FromNode&)>;
constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

wire::FromNode Beat() {
  wire::FromNode message;
  for (int i : {0, 1, 3}) {
    wire::NodeDevice& device = *message.mutable_heartbeat()->add_devices();
    device.set_index(i);
    device.set_capacity(100);
    device.set_used(120);  // while a transaction holds two layouts
  }
  message.mutable_heartbeat()->add_snapshots()->set_bytes(5);
  return message;
}

wire::NodeDevice& Device(wire::FromNode& message) {
  return *message.mutable_heartbeat()->mutable_devices(1);
}

}  // namespace
Q_DECLARE_METATYPE(Change)

class NodeClaimsTest : public QObject {
  Q_OBJECT

 private slots:
  void whatCanBeIsTaken() {
    VERIFY_OK(CheckClaims(Beat()));
    VERIFY_OK(CheckClaims(wire::FromNode()));
    wire::FromNode step;
    step.mutable_step()->set_step(7);
    step.mutable_step()->set_loss(kNone);  // it has diverged
    (*step.mutable_step()->mutable_metrics())["eval/loss"] = kNone;
    VERIFY_OK(CheckClaims(step));
  }

  void whatCannotBeIsRefused_data() {
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("error");
    const auto row = [](const char* name, const char* error, Change change) {
      QTest::newRow(name) << std::move(change) << QString::fromLatin1(error);
    };
    row("index", "GPU -5 is not from 1 to 1023", [](auto& m) { Device(m).set_index(-5); });
    row("twice", "GPU 0 is not from 1 to 1023", [](auto& m) { Device(m).set_index(0); });
    row("many", "GPU 1024 is not from", [](auto& m) { Device(m).set_index(1024); });
    row("used", "used -1 is not from 0 to", [](auto& m) { Device(m).set_used(-1); });
    row("capacity", "capacity 9223372036854775807 is not from 0",
        [](auto& m) { Device(m).set_capacity(kHuge); });
    row("busy", "busy_seconds nan is not finite",
        [](auto& m) { Device(m).set_busy_seconds(kNone); });
    row("busy below", "busy_seconds -1 is below 0",
        [](auto& m) { Device(m).set_busy_seconds(-1); });
    row("job", "job has 5000 bytes, 4096 are allowed",
        [](auto& m) { Device(m).set_job(std::string(5000, 'j')); });
    row("views", "view_bytes -1 is not",
        [](auto& m) { m.mutable_heartbeat()->set_view_bytes(-1); });
    row("network", "below 0",
        [](auto& m) { m.mutable_heartbeat()->mutable_network()->set_corrupt(-1); });
    row("snapshot", "snapshot -2 is not",
        [](auto& m) { m.mutable_heartbeat()->mutable_snapshots(0)->set_bytes(-2); });
    row("host", "a name has 5000 bytes",
        [](auto& m) { m.mutable_register_()->set_host(std::string(5000, 'h')); });
    row("name of a metric", "'a b' is no name of a metric",
        [](auto& m) { (*m.mutable_step()->mutable_metrics())["a b"] = 1; });
    row("many metrics", "17 metrics, 16 are allowed", [](auto& m) {
      for (int i = 0; i < 17; ++i) {
        (*m.mutable_step()->mutable_metrics())["m" + std::to_string(i)] = 1;
      }
    });
    row("register", "GPU -1 is not",
        [](auto& m) { m.mutable_register_()->add_devices()->set_index(-1); });
    row("step", "step -1 is not from 0 to", [](auto& m) { m.mutable_step()->set_step(-1); });
    row("far step", "step 9223372036854775807 is not",
        [](auto& m) { m.mutable_step()->set_step(kHuge); });
    row("time", "time nan is not finite", [](auto& m) { m.mutable_step()->set_time(kNone); });
    row("paused", "step -3 is not", [](auto& m) { m.mutable_job_paused()->set_step(-3); });
    row("step of a job", "step -1 is not",
        [](auto& m) { m.mutable_heartbeat()->add_jobs()->set_step(-1); });
    row("end of an update", "step 9223372036854775807 is not",
        [](auto& m) { Device(m).set_end(kHuge); });
    row("decided", "step -1 is not", [](auto& m) { Device(m).mutable_decision()->set_step(-1); });
    row("path", "arena_path has 300 bytes, 256 are allowed",
        [](auto& m) { Device(m).set_arena_path(std::string(300, 'p')); });
    row("paused for a change", "step -1 is not", [](auto& m) { m.mutable_txn()->set_step(-1); });
    row("checksums", "checksums -1 is not",
        [](auto& m) { m.mutable_txn()->set_checksums_equal(-1); });
    row("flow", "bytes_done -1 is not",
        [](auto& m) { m.mutable_progress()->add_flows()->set_bytes_done(-1); });
    row("storage", "storage_done -1 is not",
        [](auto& m) { m.mutable_progress()->set_storage_done(-1); });
    row("gradients", "gradients_done 9223372036854775807 is not",
        [](auto& m) { m.mutable_progress()->set_gradients_done(INT64_MAX); });
    row("a pending step", "step -1 is not",
        [](auto& m) { m.mutable_txn()->mutable_pending()->set_step(-1); });
    row("a wait", "kept_seconds", [](auto& m) { m.mutable_txn()->set_kept_seconds(std::nan("")); });
    row("file", "file -1 is not", [](auto& m) { m.mutable_save()->add_files()->set_bytes(-1); });
    row("view", "bytes -1 is not", [](auto& m) { m.mutable_view()->set_bytes(-1); });
    row("event", "event has 70000 bytes, 65536 are allowed",
        [](auto& m) { m.mutable_event()->set_text(std::string(70'000, 'e')); });
    row("reason", "reason has 70000 bytes",
        [](auto& m) { m.mutable_rank_exited()->set_reason(std::string(70'000, 'r')); });
  }
  void whatCannotBeIsRefused() {
    QFETCH(Change, change);
    QFETCH(QString, error);
    wire::FromNode claim = Beat();
    change(claim);
    VERIFY_ERROR(CheckClaims(claim), ErrorCode::kInvalidArgument, error.toStdString());
  }
};

TESSERA_TEST_APPLESS(NodeClaimsTest)
#include "node_claims_test.moc"
