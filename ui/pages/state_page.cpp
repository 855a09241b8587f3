// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/state_page.h"

#include <QClipboard>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/theme.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {
namespace {
// The frames of MeshView: two rows of two cells.
constexpr int kCellWidth = 148, kCellHeight = 112, kGap = 12, kHeader = 34;
constexpr int kSkeletonTop = 24;
constexpr int kSkeletonHeight = kHeader + 2 * (kCellHeight + kGap);
}  // namespace

StatePage::StatePage(QWidget* parent)
    : Surface(Tone::Canvas, parent),
      m_top(new QWidget(this)),
      m_title(new QLabel(this)),
      m_detail(new QLabel(this)),
      m_command(new QLabel(this)),
      m_copy(new QPushButton(tr("Copy"), this)),
      m_retry(new QPushButton(tr("Retry now"), this)) {
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

  auto* commandRow = new QHBoxLayout;
  commandRow->addStretch();
  commandRow->addWidget(m_command);
  commandRow->addWidget(m_copy);
  commandRow->addStretch();
  auto* column = new QVBoxLayout(this);
  column->setSpacing(10);
  column->addWidget(m_top);
  column->addStretch(2);
  column->addWidget(m_title);
  column->addWidget(m_detail);
  column->addLayout(commandRow);
  column->addWidget(m_retry, 0, Qt::AlignHCenter);
  column->addStretch(3);
  connect(m_retry, &QPushButton::clicked, this, &StatePage::retryRequested);
  connect(m_copy, &QPushButton::clicked, this,
          [this] { QGuiApplication::clipboard()->setText(m_command->text()); });
}

QString StatePage::title() const { return m_title->text(); }

void StatePage::setSkeleton(bool shown) {
  m_skeleton = shown;
  m_top->setFixedHeight(shown ? kSkeletonTop + kSkeletonHeight : 0);
}

void StatePage::showEmpty() {
  setSkeleton(false);
  m_title->setText(tr("No cluster yet"));
  m_detail->setText(
      tr("Start a local one with 2 nodes of 4 emulated GPUs, then open the panel again:"));
  m_command->setText(QStringLiteral("tesseractl up"));
  m_command->show();
  m_copy->show();
  m_retry->hide();
  update();
}

void StatePage::showConnecting(const QString& detail) {
  setSkeleton(true);
  m_title->setText(tr("Connecting…"));
  m_detail->setText(detail);
  m_command->hide();
  m_copy->hide();
  m_retry->hide();
  update();
}

void StatePage::showProblem(const QString& title, const QString& detail, bool canRetry) {
  setSkeleton(false);
  m_title->setText(title);
  m_detail->setText(detail);
  m_command->hide();
  m_copy->hide();
  m_retry->setVisible(canRetry);
  update();
}

void StatePage::paintEvent(QPaintEvent* event) {
  Surface::paintEvent(event);
  if (!m_skeleton) return;
  const Theme& theme = Theme::current();
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  const int wide = 2 * kCellWidth + 3 * kGap;
  for (int x = 33; x + wide < width(); x += wide + 40) {
    painter.setBrush(theme.frame);
    painter.drawRoundedRect(x, kSkeletonTop, wide, kSkeletonHeight, 10, 10);
    painter.setBrush(theme.soft);
    for (int i = 0; i < 4; ++i) {
      painter.drawRoundedRect(x + kGap + (i % 2) * (kCellWidth + kGap),
                              kSkeletonTop + kHeader + (i / 2) * (kCellHeight + kGap), kCellWidth,
                              kCellHeight, 8, 8);
    }
  }
}

}  // namespace tessera::ui
