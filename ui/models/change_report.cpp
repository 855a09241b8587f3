// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/change_report.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QStringList>
#include <algorithm>
#include <utility>

#include "ui/format.h"
#include "ui/models/change_view.h"
#include "ui/models/device_names.h"
#include "ui/sentences.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

class Report {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::Report)
};

constexpr int kPhaseBarWidth = 760, kPhaseBarHeight = 14;

QString html(const QString& text) { return text.toHtmlEscaped(); }

QString tableRow(const QString& key, const QString& value) {
  return QStringLiteral("<tr><th>%1</th><td>%2</td></tr>\n").arg(html(key), html(value));
}

QString reportDevices(const std::string& mesh) {
  const auto parsed = ptc::ParseDeviceMesh(mesh);
  return parsed ? deviceNames(parsed->devices()) : format::unknown();
}

/// The style sheet, in the light colours: reports are printed.
QString styleOf(const Theme& theme) {
  return QStringLiteral(
             "body{font:15px/1.5 Inter,system-ui,sans-serif;color:%1;background:%2;"
             "max-width:800px;margin:40px auto;padding:0 20px}"
             "h1{font-size:24px;margin-bottom:4px}h2{font-size:17px;margin-top:32px}"
             "p.lead{color:%3;margin-top:0}"
             "table{border-collapse:collapse}th{font-weight:400;color:%3;text-align:left;"
             "padding:3px 24px 3px 0;vertical-align:top}td{padding:3px 24px 3px 0}"
             "td.n{text-align:right;font-variant-numeric:tabular-nums}"
             "table.flows th{border-bottom:1px solid %4}"
             "img{border:1px solid %4;border-radius:8px;max-width:100%}"
             "figure{margin:12px 0}figcaption{color:%3;font-size:13px}"
             ".ok{color:%5}.warn{color:%6}.bad{color:%7}"
             ".badge{color:%6;border:1px solid %6;border-radius:4px;padding:1px 6px;"
             "font-size:12px}")
      .arg(theme.text.name(), theme.canvas.name(), theme.dim.name(), theme.line.name(),
           theme.ok.name(), theme.warn.name(), theme.bad.name());
}

QString phaseBar(const std::vector<PhaseTime>& phases, const Theme& theme) {
  double whole = 0;
  for (const PhaseTime& phase : phases) whole += phase.seconds;
  if (whole <= 0) return QStringLiteral("<p>%1</p>\n").arg(html(Report::tr("Not recorded.")));
  QString svg = QStringLiteral(
                    "<svg role=\"img\" width=\"100%\" viewBox=\"0 0 %1 %2\" "
                    "preserveAspectRatio=\"none\" style=\"height:%2px\">\n")
                    .arg(kPhaseBarWidth)
                    .arg(kPhaseBarHeight);
  QString rows;
  double at = 0;
  for (const PhaseTime& phase : phases) {
    const double wide = phase.seconds / whole * kPhaseBarWidth;
    const QString color = (phase.pauses ? theme.warn : theme.accent).name();
    svg += QStringLiteral(
               "<rect x=\"%1\" y=\"0\" width=\"%2\" height=\"%3\" fill=\"%4\" stroke=\"%5\"/>\n")
               .arg(at, 0, 'f', 2)
               .arg(wide, 0, 'f', 2)
               .arg(kPhaseBarHeight)
               .arg(color, theme.canvas.name());
    at += wide;
    rows += QStringLiteral(
                "<tr><th><span style=\"color:%1\">■</span> %2</th><td>%3</td>"
                "<td>%4</td></tr>\n")
                .arg(color, html(phase.name), html(format::seconds(phase.seconds)),
                     html(phase.pauses ? Report::tr("the job is paused")
                                       : Report::tr("the job trains")));
  }
  return svg + QStringLiteral("</svg>\n<table>") + rows + QStringLiteral("</table>\n");
}

QString picture(const QByteArray& png, int width, const QString& caption) {
  if (png.isEmpty()) return {};
  return QStringLiteral(
             "<figure><img width=\"%1\" alt=\"%2\" src=\"data:image/png;base64,%3\">"
             "<figcaption>%2</figcaption></figure>\n")
      .arg(width)
      .arg(html(caption), QString::fromLatin1(png.toBase64()));
}

QString digestSentence(const engine::HistoryEntry& entry) {
  const QString before = QString::fromStdString(entry.digest_before);
  const QString after = QString::fromStdString(entry.digest_after);
  if (before.isEmpty() || after.isEmpty())
    return html(Report::tr("The digests of the state were not recorded."));
  if (before == after)
    return QStringLiteral("<span class=\"ok\">%1</span> <code>%2</code>")
        .arg(html(Report::tr("The state is the same before and after. Its digest:")), html(before));
  return QStringLiteral("<span class=\"bad\">%1</span> <code>%2</code> → <code>%3</code>")
      .arg(html(Report::tr("The digests differ:")), html(before), html(after));
}

QString flowRows(std::vector<engine::FlowStatus> flows) {
  std::ranges::stable_sort(
      flows, [](const auto& a, const auto& b) { return a.bytes_total > b.bytes_total; });
  QString rows;
  for (const engine::FlowStatus& flow : flows) {
    rows += QStringLiteral("<tr><td>%1</td><td>%2</td><td class=\"n\">%3</td></tr>\n")
                .arg(html(format::device(flow.source)), html(format::device(flow.destination)),
                     html(format::bytes(flow.bytes_total)));
  }
  return rows;
}

/// How far the change is from the least bytes that any plan could move.
QString certificateSentence(const engine::HistoryEntry& entry) {
  if (entry.volume_bound <= 0)
    return Report::tr("%1 moved between GPUs.").arg(format::bytes(entry.bytes_moved));
  if (entry.bytes_moved <= entry.volume_bound)
    return Report::tr("%1 moved. No plan for this change can move less.")
        .arg(format::bytes(entry.bytes_moved));
  return Report::tr("%1 moved. Every plan for this change moves at least %2.")
      .arg(format::bytes(entry.bytes_moved), format::bytes(entry.volume_bound));
}

}  // namespace

QByteArray reportHtml(const engine::HistoryEntry& entry, const QString& cluster,
                      const ReportPictures& pictures,
                      const std::optional<engine::SimulationStatus>& simulation) {
  const Theme& theme = Theme::light();
  const QString title =
      Report::tr("Change %1 of %2").arg(entry.id).arg(QString::fromStdString(entry.job));
  QString out = QStringLiteral(
                    "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\">"
                    "<title>%1</title><style>%2</style></head><body>\n")
                    .arg(html(title), styleOf(theme));
  const QString role = entry.result == "committed" ? QStringLiteral("ok")
                       : entry.result == "failed"  ? QStringLiteral("bad")
                                                   : QStringLiteral("warn");
  out +=
      QStringLiteral("<h1>%1</h1>\n<p class=\"lead\"><span class=\"%2\">%3</span> · %4 · %5</p>\n")
          .arg(html(title), role, html(resultText(entry)), html(changeText(entry)),
               html(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(entry.started * 1000))
                        .toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"))));
  if (simulation)
    out += QStringLiteral("<p><span class=\"badge\">%1</span></p>\n")
               .arg(html(Report::tr("SIMULATED")));
  if (!entry.reason.empty())
    out += QStringLiteral("<p>%1</p>\n").arg(html(localized(entry.reason)));
  out += QStringLiteral("<table>\n");
  out += tableRow(Report::tr("cluster"), cluster);
  if (simulation)
    out +=
        tableRow(Report::tr("simulated"), Report::tr("on modelled hardware %1: nothing was trained")
                                              .arg(QString::fromStdString(simulation->hardware)));
  out += tableRow(Report::tr("requested by"), format::requester(entry.requester));
  out += tableRow(Report::tr("GPUs before"), reportDevices(entry.from));
  out += tableRow(Report::tr("GPUs after"), reportDevices(entry.to));
  out += tableRow(Report::tr("options before"), optionsText(entry.from_options));
  out += tableRow(Report::tr("options after"), optionsText(entry.to_options));
  out += tableRow(Report::tr("after step"), format::count(entry.step));
  out += tableRow(Report::tr("epoch"), format::count(entry.epoch));
  out += QStringLiteral("</table>\n");
  out += picture(pictures.before, pictures.width, Report::tr("Before the change"));
  out += picture(pictures.after, pictures.width, Report::tr("After the change"));

  out += QStringLiteral("<h2>%1</h2>\n<p>%2</p>\n")
             .arg(html(Report::tr("State")), digestSentence(entry));
  out += QStringLiteral("<h2>%1</h2>\n<p>%2</p>\n")
             .arg(html(Report::tr("Time")),
                  html(entry.pause_estimate > 0
                           ? Report::tr("The job was paused for %1; the plan estimated %2.")
                                 .arg(format::seconds(entry.pause),
                                      format::seconds(entry.pause_estimate))
                           : Report::tr("The job was paused for %1.")
                                 .arg(format::seconds(entry.pause))));
  out += phaseBar(phasesOf(entry), theme);
  out += QStringLiteral("<h2>%1</h2>\n<p>%2</p>\n<table>\n")
             .arg(html(Report::tr("Bytes")), html(certificateSentence(entry)));
  if (plannedBytes(entry) > 0) {
    out += tableRow(Report::tr("stayed on their GPU"), format::bytes(entry.kept + entry.device));
    out += tableRow(Report::tr("inside a host"), format::bytes(entry.host));
    out += tableRow(Report::tr("over the network"), format::bytes(entry.network));
  }
  out += QStringLiteral("</table>\n");
  if (!entry.flows.empty()) {
    out += QStringLiteral(
               "<h2>%1</h2>\n<table class=\"flows\"><tr><th>%2</th><th>%3</th>"
               "<th>%4</th></tr>\n%5</table>\n")
               .arg(html(Report::tr("Flows, largest first")), html(Report::tr("from")),
                    html(Report::tr("to")), html(Report::tr("bytes")), flowRows(entry.flows));
  }
  out += QStringLiteral("</body></html>\n");
  return out.toUtf8();
}

std::optional<engine::ClusterSnapshot> clusterOfChange(const engine::HistoryEntry& entry,
                                                       const engine::ClusterSnapshot& now,
                                                       bool isAfter) {
  const auto from = ptc::ParseDeviceMesh(entry.from), to = ptc::ParseDeviceMesh(entry.to);
  if (!from || !to) return std::nullopt;
  const auto& mesh = isAfter && entry.result == "committed" ? *to : *from;
  engine::ClusterSnapshot then;
  then.cluster = now.cluster;
  then.one_host = now.one_host;
  std::map<std::int32_t, std::map<std::int32_t, engine::DeviceStatus>> devices;  // node, index
  for (const engine::NodeStatus& node : now.nodes) {
    for (const engine::DeviceStatus& known : node.devices) {
      engine::DeviceStatus& device = devices[known.id.node][known.id.index];
      device.id = known.id;
      device.total_bytes = known.total_bytes;
      if (known.job != entry.job) device.job = known.job;
    }
  }
  for (const auto* each : {&*from, &*to}) {
    for (const ptc::DeviceId id : each->devices()) devices[id.node][id.index].id = id;
  }
  engine::JobStatus job;
  job.name = entry.job;
  job.state = engine::JobState::kRunning;
  job.step = entry.step;
  job.mesh = mesh.shape();
  job.devices = {mesh.devices().begin(), mesh.devices().end()};
  job.options = isAfter ? entry.to_options : entry.from_options;
  for (std::size_t rank = 0; rank < job.devices.size(); ++rank) {
    engine::DeviceStatus& device = devices[job.devices[rank].node][job.devices[rank].index];
    device.job = entry.job;
    device.rank = static_cast<int>(rank);
  }
  for (auto& [number, of] : devices) {
    engine::NodeStatus& node = then.nodes.emplace_back();
    node.node = number;
    node.state = engine::NodeState::kAlive;
    for (auto& [index, device] : of) node.devices.push_back(std::move(device));
  }
  then.jobs.push_back(std::move(job));
  return then;
}

}  // namespace tessera::ui
