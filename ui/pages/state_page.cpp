// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/state_page.h"

#include <QCheckBox>
#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/dialogs/spinner.h"
#include "ui/format.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {
namespace {
// Like the frames of MeshView: two rows of two cells.
constexpr int kCellWidth = 148, kCellHeight = 112, kSkeletonGap = 12, kHeader = 34;
constexpr int kSkeletonTop = 24;
constexpr int kDetailWidth = 560;
constexpr int kSkeletonHeight = kHeader + 2 * (kCellHeight + kSkeletonGap);
}  // namespace

StatePage::StatePage(QWidget* parent)
    : Surface(Tone::Canvas, parent),
      m_top(new QWidget(this)),
      m_title(new QLabel(this)),
      m_detail(new QLabel(this)),
      m_command(new QLabel(this)),
      m_copy(new QPushButton(tr("Copy"), this)),
      m_retry(new QPushButton(tr("Retry now"), this)),
      m_again(new QPushButton(tr("Start again"), this)),
      m_history(new QPushButton(tr("Open its history"), this)),
      m_start(new QPushButton(tr("Start local cluster (2 nodes × 4 GPUs)"), this)),
      m_simulate(new QPushButton(tr("Simulate a cluster…"), this)),
      m_connect(new QPushButton(tr("Connect…"), this)),
      m_open(new QPushButton(tr("Open history file…"), this)),
      m_learn(new QPushButton(tr("Learn in 5 minutes"), this)),
      m_demo(new QPushButton(tr("Watch a demo"), this)),
      m_slowLinks(new QCheckBox(tr("Slow links (%1), so that a move can be seen")
                                    .arg(format::rate(static_cast<double>(kSlowLink))),
                                this)),
      m_spinner(new Spinner(this)) {
  setRole(m_title, QStringLiteral("number"));
  setRole(m_detail, QStringLiteral("hint"));
  for (QLabel* label : {m_title, m_detail}) {
    label->setAlignment(Qt::AlignCenter);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  m_command->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  m_command->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_command->setAccessibleName(tr("Command that starts a local cluster"));
  m_copy->setAccessibleName(tr("Copy the command"));
  m_retry->setAccessibleName(tr("Retry the connection now"));

  m_again->setProperty("primary", true);
  m_again->setAccessibleName(tr("Start the cluster again with the nodes and GPUs that it had"));
  m_history->setAccessibleName(tr("Open the history of the stopped cluster"));
  m_start->setProperty("primary", true);
  m_start->setAccessibleName(tr("Start a local cluster of 2 nodes with 4 GPUs each"));
  m_simulate->setAccessibleName(tr("Simulate a cluster of any size"));
  m_connect->setAccessibleName(tr("Connect to another cluster"));
  m_open->setAccessibleName(tr("Open a history file"));
  m_learn->setAccessibleName(tr("Open the first lessons"));
  m_learn->setToolTip(
      tr("Short lessons on a simulated cluster: what shards are, and what a change "
         "moves"));
  m_demo->setAccessibleName(tr("Watch a simulated job that grows and shrinks"));
  m_demo->setToolTip(
      tr("Starts a simulated cluster. Its job grows to 8 GPUs and shrinks to 4 in "
         "turn, and nothing is trained"));
  m_slowLinks->setAccessibleName(m_slowLinks->text());
  m_detail->setFixedWidth(kDetailWidth);

  auto* others = new QHBoxLayout;
  others->setSpacing(10);
  others->addStretch();
  for (QPushButton* choice : {m_history, m_retry, m_simulate, m_connect, m_open})
    others->addWidget(choice);
  others->addStretch();
  auto* firstSteps = new QHBoxLayout;
  firstSteps->setSpacing(10);
  firstSteps->addStretch();
  for (QPushButton* choice : {m_learn, m_demo}) firstSteps->addWidget(choice);
  firstSteps->addStretch();
  auto* commandRow = new QHBoxLayout;
  commandRow->addStretch();
  commandRow->addWidget(m_command);
  commandRow->addWidget(m_copy);
  commandRow->addStretch();
  // In a row of its own, because a column takes the height of a wrapped text for its full width.
  auto* detailRow = new QHBoxLayout;
  detailRow->addStretch();
  detailRow->addWidget(m_detail);
  detailRow->addStretch();
  auto* column = new QVBoxLayout(this);
  column->setSpacing(10);
  column->addWidget(m_top);
  column->addStretch(2);
  column->addWidget(m_title);
  column->addLayout(detailRow);
  column->addWidget(m_spinner, 0, Qt::AlignHCenter);
  column->addLayout(commandRow);
  column->addSpacing(6);
  column->addWidget(m_again, 0, Qt::AlignHCenter);
  column->addWidget(m_start, 0, Qt::AlignHCenter);
  column->addWidget(m_slowLinks, 0, Qt::AlignHCenter);
  column->addLayout(others);
  column->addLayout(firstSteps);
  column->addStretch(3);
  connect(m_retry, &QPushButton::clicked, this, &StatePage::retryRequested);
  connect(m_start, &QPushButton::clicked, this,
          [this] { emit startRequested(m_slowLinks->isChecked()); });
  connect(m_slowLinks, &QCheckBox::toggled, this, &StatePage::refreshCommand);
  connect(m_learn, &QPushButton::clicked, this, &StatePage::learnRequested);
  connect(m_demo, &QPushButton::clicked, this, &StatePage::demoRequested);
  connect(m_again, &QPushButton::clicked, this, &StatePage::startAgainRequested);
  connect(m_history, &QPushButton::clicked, this, &StatePage::historyRequested);
  connect(m_simulate, &QPushButton::clicked, this, &StatePage::simulateRequested);
  connect(m_connect, &QPushButton::clicked, this, &StatePage::connectRequested);
  connect(m_open, &QPushButton::clicked, this, &StatePage::openRequested);
  connect(m_copy, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(m_command->text()); });
}

QString StatePage::title() const { return m_title->text(); }
QString StatePage::detail() const { return m_detail->text(); }
QString StatePage::command() const { return m_command->text(); }

void StatePage::refreshCommand() {
  m_command->setText(m_slowLinks->isChecked() ? QStringLiteral("tesseractl up --link 100MB/s")
                                              : QStringLiteral("tesseractl up"));
}

void StatePage::setSkeleton(bool shown) {
  m_skeleton = shown;
  m_top->setFixedHeight(shown ? kSkeletonTop + kSkeletonHeight : 0);
}

void StatePage::say(const QString& title, const QString& detail,
                    const std::vector<QWidget*>& parts) {
  m_title->setText(title);
  m_detail->setText(detail);
  for (QWidget* part : {static_cast<QWidget*>(m_command), static_cast<QWidget*>(m_copy),
                        static_cast<QWidget*>(m_retry), static_cast<QWidget*>(m_again),
                        static_cast<QWidget*>(m_history), static_cast<QWidget*>(m_start),
                        static_cast<QWidget*>(m_simulate), static_cast<QWidget*>(m_connect),
                        static_cast<QWidget*>(m_open), static_cast<QWidget*>(m_learn),
                        static_cast<QWidget*>(m_demo), static_cast<QWidget*>(m_slowLinks),
                        static_cast<QWidget*>(m_spinner)}) {
    part->setVisible(std::find(parts.begin(), parts.end(), part) != parts.end());
  }
  m_spinner->setRunning(m_spinner->isVisibleTo(this));
  update();
}

void StatePage::showEmpty(bool canConnect) {
  setSkeleton(false);
  refreshCommand();
  if (canConnect) {
    say(tr("No cluster yet"),
        tr("Start a cluster of 2 nodes with 4 emulated GPUs each on this machine, simulate a "
           "larger one, connect to one that runs, or open a history file. The first button runs "
           "this command:"),
        {m_command, m_copy, m_start, m_slowLinks, m_simulate, m_connect, m_open, m_learn, m_demo});
  } else {
    say(tr("No cluster yet"),
        tr("Start a local cluster of 2 nodes with 4 emulated GPUs each, then open the panel "
           "again:"),
        {m_command, m_copy, m_learn});
  }
}

void StatePage::showStarting(const QString& doing) {
  setSkeleton(true);
  say(tr("Starting a cluster…"), doing, {m_spinner});
}

void StatePage::showFile(const QString& file) {
  setSkeleton(false);
  say(tr("History file, not a live cluster"),
      tr("%1\nIts changes, events and samples are shown below.\nChoose Past, or click in the "
         "timeline, to see its GPUs.")
          .arg(file),
      {m_connect, m_open});
}

void StatePage::showConnecting(const QString& detail) {
  setSkeleton(true);
  say(tr("Connecting…"), detail, {});
}

void StatePage::showProblem(const QString& title, const QString& detail, bool canRetry) {
  setSkeleton(false);
  if (canRetry) {
    say(title, detail, {m_retry, m_connect});
  } else {
    say(title, detail, {m_connect});
  }
}

void StatePage::showStopped(const QString& title, const QString& detail, bool canStart,
                            bool hasHistory, bool canConnect) {
  setSkeleton(false);
  std::vector<QWidget*> parts;
  if (canStart) parts.push_back(m_again);
  if (hasHistory) parts.push_back(m_history);
  if (canConnect) parts.push_back(m_connect);
  say(title, detail, parts);
}

void StatePage::paintEvent(QPaintEvent* event) {
  Surface::paintEvent(event);
  if (!m_skeleton) return;
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  const int wide = 2 * kCellWidth + 3 * kSkeletonGap;
  for (int x = 33; x + wide < width(); x += wide + 40) {
    painter.setBrush(theme.frame);
    painter.drawRoundedRect(x, kSkeletonTop, wide, kSkeletonHeight, 10, 10);
    painter.setBrush(theme.soft);
    for (int i = 0; i < 4; ++i) {
      painter.drawRoundedRect(x + kSkeletonGap + (i % 2) * (kCellWidth + kSkeletonGap),
                              kSkeletonTop + kHeader + (i / 2) * (kCellHeight + kSkeletonGap),
                              kCellWidth, kCellHeight, 8, 8);
    }
  }
}

}  // namespace tessera::ui
