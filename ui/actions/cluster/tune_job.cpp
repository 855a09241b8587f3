// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Runs the best configurations for some steps each and keeps the fastest.

#include <QLocale>
#include <QSpinBox>

#include "ui/actions/cluster_list.h"
#include "ui/commands.h"
#include "ui/dialogs/answer_dialog.h"
#include "ui/format.h"
#include "ui/models/tuning_text.h"
#include "ui/sentences.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {

namespace {

constexpr QLatin1String kTuneDialog("tuning");
constexpr int kMostTuned = 32, kMostTuneSteps = 10'000, kLeastTuneSteps = 3;

AnswerDialog::Shown showTuning(const TuneAnswer& answer, const QString& job) {
  AnswerDialog::Shown shown;
  shown.table.titles = {{ClusterMenu::tr("Configuration"), false, true},
                        {ClusterMenu::tr("GPUs"), true},
                        {ClusterMenu::tr("Predicted"), true},
                        {ClusterMenu::tr("Measured"), true},
                        {ClusterMenu::tr("Error"), true}};
  const auto time = [](double seconds) {
    return seconds > 0 ? format::seconds(seconds) : format::unknown();
  };
  double best = 0;
  for (const TuneRow& row : answer.rows) {
    QString place = configurationText(row.mesh, row.options);
    if (!row.failure.empty()) place += QStringLiteral(": ") + localized(row.failure);
    const bool both = row.predicted > 0 && row.measured > 0;
    if (row.measured > 0 && (best == 0 || row.measured < best)) {
      best = row.measured;
      shown.table.marked = static_cast<int>(shown.table.rows.size());
    }
    shown.table.rows.push_back(
        {place, format::count(static_cast<std::int64_t>(row.devices.size())), time(row.predicted),
         row.failure.empty() ? time(row.measured) : ClusterMenu::tr("failed"),
         both ? ClusterMenu::tr("%1 %").arg(
                    QLocale().toString(100 * (row.predicted / row.measured - 1), 'f', 0))
              : format::unknown()});
  }
  if (answer.doing) {
    shown.words = doingText(*answer.doing);
    shown.isPartial = true;
  } else {
    shown.words =
        (answer.stopped ? ClusterMenu::tr("Stopped. %1 runs %2.") : ClusterMenu::tr("%1 runs %2."))
            .arg(job, answer.kept ? placeText(*answer.kept) : format::unknown());
    shown.role = answer.stopped ? QStringLiteral("warn") : QStringLiteral("ok");
  }
  return shown;
}

/// Says the outcome in the window if nobody looks at the dialog any more.
void sayWithoutDialog(const CommandContext& with, const QString& job,
                      const Result<TuneAnswer>& answer) {
  if (with.window->findChild<AnswerDialog*>(kTuneDialog) != nullptr) return;
  if (answer)
    with.say(showTuning(*answer, job).words);
  else
    with.showError(
        ClusterMenu::tr("The job was not tuned: %1.").arg(format::error(answer.error())));
}

void openTuning(const CommandContext& with) {
  const QString job = with.job();
  auto* top = new QSpinBox;
  top->setRange(1, kMostTuned);
  top->setValue(4);
  top->setPrefix(ClusterMenu::tr("configurations: "));
  top->setAccessibleName(ClusterMenu::tr("Number of configurations to try"));
  auto* steps = new QSpinBox;
  steps->setRange(kLeastTuneSteps, kMostTuneSteps);
  steps->setValue(12);
  steps->setPrefix(ClusterMenu::tr("steps each: "));
  steps->setAccessibleName(ClusterMenu::tr("Steps to run each; the first 2 do not count"));
  const auto command = [&with, job, top, steps] {
    return with.commandLine({QStringLiteral("job"), QStringLiteral("tune"), job,
                             QStringLiteral("--limit"), QString::number(top->value()),
                             QStringLiteral("--steps"), QString::number(steps->value())});
  };
  const AnswerDialog::Ask ask = [&with, job, top, steps](const AnswerDialog::Done& done) {
    const auto shown = [done, job](const TuneAnswer& answer) { done(showTuning(answer, job)); };
    with.control.tune(
        TuneRequest{job.toStdString(), top->value(), steps->value(), true},
        [&with, guard = with.guard(), job, done, shown](Result<TuneAnswer> answer) {
          if (guard) sayWithoutDialog(with, job, answer);
          if (answer) return shown(*answer);
          done(answer.error());
        },
        shown);
  };
  auto* dialog = AnswerDialog::idle(
      {.title = ClusterMenu::tr("Tune %1").arg(job),
       .waiting = ClusterMenu::tr("Planning the configurations…"),
       .failed = ClusterMenu::tr("The job was not tuned: %1."),
       .again = ClusterMenu::tr("Start"),
       .command = command()},
      ClusterMenu::tr("Each configuration is an ordinary change: training continues and no step is "
                      "lost. At the end the job keeps the fastest one."),
      ask, with.window);
  dialog->addControl(top);
  dialog->addControl(steps);
  for (QSpinBox* box : {top, steps}) {
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    QObject::connect(box, &QSpinBox::valueChanged, dialog,
                     [dialog, ask, command] { dialog->setQuestion(ask, command()); });
  }
  dialog->setObjectName(kTuneDialog);
  dialog->addStopButton(ClusterMenu::tr("Stop and go back"),
                        [&with] { with.control.stopTuning(); });
  with.open(dialog);
}

}  // namespace

ClusterCommand tuneJobCommand(const CommandContext& with) {
  return {{.id = QStringLiteral("cluster.tuneJob"),
           .menu = Menus::cluster(),
           .text = ClusterMenu::tr("&Tune the Job…"),
           .statusTip = ClusterMenu::tr(
               "Run the configurations with the best estimates and keep the fastest"),
           .blocked =
               [&with] {
                 if (const auto& tuning = with.control.tuning())
                   return ClusterMenu::tr("%1 is being tuned.").arg(tuning->job);
                 return with.jobIsNot({engine::JobState::kRunning},
                                      ClusterMenu::tr("The job is not running."));
               }},
          [&with](bool) { openTuning(with); }};
}

}  // namespace tessera::ui
