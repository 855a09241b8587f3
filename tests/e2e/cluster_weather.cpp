// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/cluster_weather.h"

#include <algorithm>
#include <memory>

#include "ui/format.h"
#include "ui/models/start_form.h"

namespace tessera::test {
namespace {

constexpr int kJobs = 2, kMostFailedGpus = 2, kMostAddedNodes = 2;
constexpr double kSpeed = 20, kCutSeconds = 8, kSlowFactor = 3;

using Simulate = ui::SimulateRequest;

bool Runs(const engine::JobStatus& job) {
  return job.state != engine::JobState::kStopped && job.state != engine::JobState::kFailed;
}

}  // namespace

ClusterWeather::ClusterWeather(const ui::ClusterModel& model, ui::ClusterCommands& commands,
                               std::mt19937_64& random)
    : m_model(model), m_commands(commands), m_random(random) {}

int ClusterWeather::below(int limit) {
  return static_cast<int>(m_random() % static_cast<std::uint64_t>(std::max(1, limit)));
}

template <typename R>
void ClusterWeather::send(const R& request) {
  m_commands.ask(request, [refusals = m_refusals](const Result<typename R::Answer>& answer) {
    if (!answer) ++*refusals;
  });
}

QString ClusterWeather::act() {
  const auto& nodes = m_model.snapshot().nodes;
  if (nodes.empty()) return QStringLiteral("nothing");
  const engine::NodeStatus& node =
      nodes[static_cast<std::size_t>(below(static_cast<int>(nodes.size())))];
  const ptc::DeviceId gpu{node.node, below(static_cast<int>(node.devices.size()))};
  const auto named = [](const char* act, const QString& what) {
    return QStringLiteral("outside: %1 %2").arg(QLatin1String(act), what);
  };
  switch (below(9)) {
    case 0:
      send(ui::NodeRequest{node.node, ui::NodeRequest::Act::Kill});
      return named("kill", ui::format::node(node.node));
    case 1:
      send(ui::NodeRequest{node.node, ui::NodeRequest::Act::Start});
      return named("start", ui::format::node(node.node));
    case 2:
      if (m_failedGpus == kMostFailedGpus) break;
      ++m_failedGpus;
      send(ui::FailDeviceRequest{gpu});
      return named("fail", ui::format::device(gpu));
    case 3:
      send(Simulate{Simulate::Act::Restart, 1, gpu});
      return named("restart", ui::format::node(node.node));
    case 4:
      send(Simulate{Simulate::Act::Cut, kCutSeconds, gpu});
      return named("cut", ui::format::node(node.node));
    case 5:
      send(Simulate{Simulate::Act::Slow, below(2) == 0 ? kSlowFactor : 1, gpu});
      return named("slow", ui::format::device(gpu));
    case 6:
      if (m_addedNodes == kMostAddedNodes) break;
      ++m_addedNodes;
      send(Simulate{Simulate::Act::AddNodes, 1});
      return named("add", QStringLiteral("a node"));
    case 7: {
      const engine::JobStatus* job = m_model.job();
      if (job == nullptr) break;
      const auto policy = static_cast<engine::OnFailure>(below(3));
      m_commands.setOnFailure(QString::fromStdString(job->name), policy, [](const Status&) {});
      return named("policy", QString::number(static_cast<int>(policy)));
    }
    case 8: {
      const engine::JobStatus* job = m_model.job();
      if (job == nullptr || !job->decision) break;
      m_commands.decide(QString::fromStdString(job->name), {},
                        [](const Status&) {});
      return named("decide", QStringLiteral("continue"));
    }
    default:
      break;
  }
  return named("nothing", {});
}

void ClusterWeather::startNodes() {
  for (const engine::NodeStatus& node : m_model.snapshot().nodes)
    if (node.state == engine::NodeState::kDead)
      send(ui::NodeRequest{node.node, ui::NodeRequest::Act::Start});
}

void ClusterWeather::startJob() {
  ui::StartForm form;
  form.model = QStringLiteral("gpt-10m");
  form.values[ui::start_field::kName] = QStringLiteral("job%1").arg(m_jobs + 1);
  const ui::StartCheck check = ui::checkStart(form, m_model.snapshot());
  if (!check.isGood()) return;
  ui::StartRequest request = check.request;
  const auto idle = ui::idleDevices(m_model.snapshot());
  if (idle.size() < 4) return;
  request.devices.assign(idle.begin(), idle.begin() + 4);
  ++m_jobs;
  *m_starting = true;
  m_commands.startJob(request, [starting = m_starting, refusals = m_refusals](const Status& done) {
    *starting = false;
    if (!done) ++*refusals;
  });
}

void ClusterWeather::repair() {
  const auto& snapshot = m_model.snapshot();
  if (m_model.link() != ui::LinkState::Connected || !snapshot.simulation) return;
  if (snapshot.simulation->speed != kSpeed) send(Simulate{Simulate::Act::Speed, kSpeed});
  startNodes();
  if (!*m_starting && std::ranges::count_if(snapshot.jobs, Runs) < kJobs) startJob();
  for (const engine::JobStatus& job : snapshot.jobs)
    if (job.state == engine::JobState::kPaused)
      m_commands.jobAct(QString::fromStdString(job.name), ui::JobAct::Resume, [](const Status&) {});
}

}  // namespace tessera::test
