// SPDX-License-Identifier: Apache-2.0
// Who reads the passwords in the URLs of a job's data.
#include <sys/stat.h>

#include <QTest>
#include <string>
#include <utility>

#include "agents/node/job_files.h"
#include "agents/registrar/state_requests.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "tests/agents/part_office.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;

namespace {

Job SecretJob() {
  engine::JobSettings settings;
  settings.model = *engine::FindModel("gpt-nano");
  settings.data = {"https://lena:secret@data.lab/text?token=secret"};
  ptc::DeviceMesh mesh = *ptc::DeviceMesh::Make(ptc::MeshShape{}, {ptc::DeviceId{0, 0}});
  ptc::Layout layout = *engine::MakeLayout(*engine::TensorsOf(settings, false), std::move(mesh));
  return {"nano", std::move(settings), std::move(layout)};
}

}  // namespace

class JobSecretsTest : public QObject {
  Q_OBJECT
 private slots:
  void onlyOperatorsReceiveThem() {
    sim::MemoryStore journal;
    test::PartOffice office(journal);
    JobTable jobs{office.common(), [](const std::string&) { return OkStatus(); }};
    VERIFY_OK(jobs.Add(SecretJob()));
    StateRequests states(office.common(), jobs, {});
    const auto settings_for = [&](Role role) {
      std::string settings;
      const auto reply = std::make_shared<PendingReply>(
          "id", "", [&](const std::string&, const wire::Reply& sent) {
            settings = sent.jobs().jobs(0).settings();
          });
      reply->Join("client", 1);
      states.OnJobs(role, reply);
      return settings;
    };
    QVERIFY(settings_for(Role::kOperator).find("lena:secret@") != std::string::npos);
    const std::string seen = settings_for(Role::kViewer);
    QVERIFY(seen.find("https://data.lab/text") != std::string::npos);
    QVERIFY2(seen.find("secret") == std::string::npos, seen.c_str());
  }

  void onlyTheUserOfTheAgentReadsTheFile() {
    const auto folder = test::TemporaryFolder();
    const std::string path = folder->path().toStdString();
    const Job job = SecretJob();
    VERIFY_OK(WriteJobFiles(path, job.name, engine::ToJson(job.settings), job.layout));
    struct stat found {};
    QCOMPARE(::stat(SettingsPath(path, job.name).c_str(), &found), 0);
    QCOMPARE(found.st_mode & 0777, mode_t{0600});
  }
};
TESSERA_TEST(JobSecretsTest)
#include "job_secrets_test.moc"
