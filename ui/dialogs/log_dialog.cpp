// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/log_dialog.h"

#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QScrollBar>
#include <QVBoxLayout>
#include <utility>

#include "ui/format.h"
#include "ui/widgets/copy_line.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {

LogDialog::LogDialog(const ClusterModel& model, ClusterCommands& commands, CommandLine commandLine,
                     QWidget* parent)
    : Dialog(parent),
      m_model(model),
      m_commands(commands),
      m_commandLine(std::move(commandLine)),
      m_source(new QComboBox(this)),
      m_severity(new QComboBox(this)),
      m_filter(new QLineEdit(this)),
      m_follow(new QCheckBox(tr("Follow"), this)),
      m_text(new QPlainTextEdit(this)),
      m_words(wrappingLabel(QStringLiteral("hint"), this)),
      m_command(new CopyLine(tr("command"), tr("Copy as command"), this)) {
  setWindowTitle(tr("Logs"));
  m_source->setAccessibleName(tr("Node or rank"));
  m_severity->setAccessibleName(tr("Least severity"));
  m_severity->addItem(tr("all lines"), static_cast<int>(engine::Severity::kDebug));
  m_severity->addItem(tr("warnings and errors"), static_cast<int>(engine::Severity::kWarning));
  m_severity->addItem(tr("errors"), static_cast<int>(engine::Severity::kError));
  m_filter->setPlaceholderText(tr("Filter"));
  m_filter->setClearButtonEnabled(true);
  m_filter->setAccessibleName(tr("Filter of the lines"));
  m_follow->setChecked(true);
  m_follow->setAccessibleName(tr("Follow new lines"));
  m_follow->setToolTip(tr("Read new lines every second and keep the last one in sight"));
  m_text->setReadOnly(true);
  m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
  m_text->setAccessibleName(tr("Lines of the log"));
  QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  fixed.setPointSizeF(9);
  m_text->setFont(fixed);

  auto* copy = new QPushButton(tr("Copy"), this);
  copy->setToolTip(tr("Copy the lines that are shown"));
  auto* close = new QPushButton(tr("Close"), this);
  close->setDefault(true);
  auto* top = new QHBoxLayout;
  top->setSpacing(10);
  top->addWidget(m_source);
  top->addWidget(m_severity);
  top->addWidget(m_filter, 1);
  top->addWidget(m_follow);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(10);
  buttons->addWidget(copy);
  buttons->addStretch();
  buttons->addWidget(close);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(18, 16, 18, 16);
  column->setSpacing(10);
  column->addLayout(top);
  column->addWidget(m_text, 1);
  column->addWidget(m_words);
  column->addWidget(m_command);
  column->addLayout(buttons);
  resize(860, 520);

  listSources();
  m_timer.setInterval(kFollowMs);
  connect(&m_timer, &QTimer::timeout, this, &LogDialog::ask);
  connect(m_source, &QComboBox::activated, this, &LogDialog::choose);
  connect(m_severity, &QComboBox::currentIndexChanged, this, &LogDialog::showLines);
  connect(m_filter, &QLineEdit::textChanged, this, &LogDialog::showLines);
  connect(m_follow, &QCheckBox::toggled, this, [this](bool on) {
    if (on) {
      m_timer.start();
      ask();
    } else {
      m_timer.stop();
    }
  });
  connect(copy, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(m_text->toPlainText()); });
  connect(close, &QPushButton::clicked, this, &QDialog::reject);
  m_timer.start();
  choose(0);
}

QString LogDialog::words() const { return m_words->text(); }
QString LogDialog::command() const { return m_command->text(); }

void LogDialog::listSources() {
  for (const engine::NodeStatus& node : m_model.snapshot().nodes) {
    m_sources.push_back({{.node = node.node}, -1, tr("agent of %1").arg(format::node(node.node))});
  }
  if (const engine::JobStatus* job = m_model.job(); job != nullptr) {
    for (std::size_t rank = 0; rank < job->devices.size(); ++rank) {
      const ptc::DeviceId device = job->devices[rank];
      m_sources.push_back({{.node = device.node, .job = job->name, .device = device.index},
                           static_cast<int>(rank),
                           tr("rank %1 of %2, %3")
                               .arg(rank)
                               .arg(QString::fromStdString(job->name), format::device(device))});
    }
  }
  for (const Source& each : m_sources) m_source->addItem(each.name);
}

void LogDialog::showDevice(ptc::DeviceId device) {
  int found = -1;
  for (std::size_t i = 0; i < m_sources.size(); ++i) {
    const LogRequest& request = m_sources[i].request;
    if (request.node != device.node) continue;
    if (request.job.empty() && found < 0) found = static_cast<int>(i);
    if (!request.job.empty() && request.device == device.index) found = static_cast<int>(i);
  }
  if (found < 0) return;
  m_source->setCurrentIndex(found);
  choose(found);
}

void LogDialog::choose(int row) {
  m_chosen = row;
  m_lines.clear();
  m_problem.clear();
  m_isRead = m_asking = false;
  ++m_question;
  if (m_sources.empty()) {
    m_words->setText(tr("The cluster has no node."));
    return;
  }
  LogRequest& request = m_sources[static_cast<std::size_t>(row)].request;
  request.from = 0;
  m_command->setText(m_commandLine(
      request.job.empty() ? QStringList{QStringLiteral("logs"), format::node(request.node)}
                          : QStringList{QStringLiteral("job"), QStringLiteral("logs"),
                                        QString::fromStdString(request.job),
                                        QStringLiteral("--rank"), QString::number(source().rank)}));
  showLines();
  ask();
}

void LogDialog::ask() {
  if (m_sources.empty() || std::exchange(m_asking, true)) return;
  m_commands.ask(source().request, [self = QPointer<LogDialog>(this),
                                    question = m_question](Result<LogAnswer> answer) {
    if (self) self->take(answer, question);
  });
}

void LogDialog::take(const Result<LogAnswer>& answer, int question) {
  if (question != m_question) return;
  m_asking = false;
  bool changed = !std::exchange(m_isRead, true);
  if (!answer) {
    m_problem = tr("The lines of %1 could not be read: %2.")
                    .arg(source().name, format::error(answer.error()));
    return showLines();
  }
  m_problem.clear();
  if (source().request.job.empty()) {  // a node's log has no line numbers
    changed |= m_lines.merge(answer->lines);
  } else {
    changed |= !answer->lines.empty();
    m_lines.append(answer->lines);
    m_sources[static_cast<std::size_t>(m_chosen)].request.from = answer->next;
  }
  if (changed) showLines();
}

void LogDialog::showLines() {
  const auto least = static_cast<engine::Severity>(m_severity->currentData().toInt());
  const QStringList lines = m_lines.shown(least, m_filter->text());
  QScrollBar* bar = m_text->verticalScrollBar();
  const int at = bar->value();
  m_text->setPlainText(lines.join(QLatin1Char('\n')));
  bar->setValue(m_follow->isChecked() ? bar->maximum() : at);
  const auto all = static_cast<std::int64_t>(m_lines.size());
  if (!m_problem.isEmpty()) {
    m_words->setText(m_problem);
  } else if (!m_isRead) {
    m_words->setText(m_sources.empty() ? QString()
                                       : tr("Reading the lines of %1…").arg(source().name));
  } else if (all == 0) {
    m_words->setText(tr("%1 has written nothing yet.").arg(source().name));
  } else if (lines.size() == all) {
    m_words->setText(all == 1 ? tr("1 line") : tr("%1 lines").arg(format::count(all)));
  } else {
    m_words->setText(tr("%1 of %2 lines").arg(format::count(lines.size()), format::count(all)));
  }
  setRole(m_words, m_problem.isEmpty() ? QStringLiteral("hint") : QStringLiteral("bad"));
}

}  // namespace tessera::ui
