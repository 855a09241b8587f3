// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/job_table.h"

#include <QTest>

#include "agents/sim/memory_store.h"
#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "tests/agents/part_office.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

/// What one process of the registrar has; the journal outlives it.
struct Office {
  explicit Office(sim::MemoryStore& journal) : around(journal) {}

  test::PartOffice around;
  JobTable jobs{around.common(), [](const std::string&) { return OkStatus(); }};
};

Job NewJob() {
  engine::JobSettings settings;
  settings.model = *engine::FindModel("gpt-nano");
  ptc::DeviceMesh mesh = *ptc::DeviceMesh::Make(ptc::MeshShape{}, {ptc::DeviceId{0, 0}});
  ptc::Layout layout = *engine::MakeLayout(*engine::TensorsOf(settings, false), std::move(mesh));
  return {"nano", std::move(settings), std::move(layout)};
}

}  // namespace

class JobTableTest : public QObject {
  Q_OBJECT
 private slots:
  // A job that has made no step waits as long as its steps are expected to take.
  void pausesWaitForLongSteps() {
    using std::chrono::seconds;
    Job job = NewJob();
    QVERIFY(PauseDeadline(job, 2) == seconds(40));
    QVERIFY(PauseDeadline(job, 2, 28.0) == seconds(10 * 28 + 2 * 5 * 28));
    job.step_seconds = {4, 4, 4};
    QVERIFY(PauseDeadline(job, 2, 28.0) == seconds(10 * 4 + 2 * 5 * 4));
  }

  void anEndedJobStaysEnded() {
    sim::MemoryStore journal;
    Office first(journal);
    QVERIFY(first.jobs.Add(NewJob()));
    QVERIFY(!first.jobs.HasEnded("nano"));
    QVERIFY(first.jobs.JournalEnd("nano"));
    first.jobs.Erase("nano");
    QVERIFY(first.jobs.HasEnded("nano") && !first.jobs.Find("nano"));
    Office second(journal);
    QVERIFY(second.jobs.Recover());
    QVERIFY(second.jobs.HasEnded("nano") && !second.jobs.Find("nano"));
    // Its name is free.
    QVERIFY(second.jobs.Add(NewJob()));
    QVERIFY(!second.jobs.HasEnded("nano"));
    Office third(journal);
    QVERIFY(third.jobs.Recover());
    QVERIFY(!third.jobs.HasEnded("nano") && third.jobs.Find("nano"));
  }

  void anEndThatCannotBeWrittenIsRefused() {
    sim::MemoryStore journal;
    Office office(journal);
    QVERIFY(office.jobs.Add(NewJob()));
    journal.refused = "";
    const Status refused = office.jobs.JournalEnd("nano");
    QCOMPARE(refused.error().code, ErrorCode::kResourceExhausted);
    QVERIFY(office.jobs.Find("nano") && !office.jobs.HasEnded("nano"));
    QVERIFY(!office.jobs.JournalEnd("nano"));
    QCOMPARE(office.around.num_events(), 1);  // the same error is reported once
    Office second(journal);
    QVERIFY(second.jobs.Recover());
    QVERIFY(second.jobs.Find("nano"));
  }

  // The row stays, for want of space to erase it. The mark holds.
  void aRowThatCannotBeErasedDoesNotBringTheJobBack() {
    sim::MemoryStore journal;
    Office office(journal);
    QVERIFY(office.jobs.Add(NewJob()));
    journal.refused = "job/";
    QVERIFY(office.jobs.JournalEnd("nano"));
    QVERIFY(journal.rows.contains("job/nano"));
    Office second(journal);
    QVERIFY(second.jobs.Recover());
    QVERIFY(!second.jobs.Find("nano") && second.jobs.HasEnded("nano"));
  }

  void aJobWhoseRowCannotBeWrittenIsNotThere() {
    sim::MemoryStore journal;
    journal.refused = "";
    Office office(journal);
    QVERIFY(!office.jobs.Add(NewJob()));
    QVERIFY(!office.jobs.Find("nano"));
  }
};

TESSERA_TEST_APPLESS(JobTableTest)
#include "job_table_test.moc"
