// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/pipeline_box.h"

#include <QLabel>
#include <QVBoxLayout>
#include <utility>

#include "ui/format.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/pipeline_chart.h"

namespace tessera::ui {

PipelineBox::PipelineBox(QWidget* parent)
    : QWidget(parent),
      m_title(new QLabel(tr("A step on the pipeline"), this)),
      m_chart(new PipelineChart(this)),
      m_text(wrappingLabel(QString(), this)),
      m_source(wrappingLabel(QStringLiteral("hint"), this)) {
  setRole(m_title, QStringLiteral("heading"));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  column->addWidget(m_title);
  column->addWidget(m_chart);
  column->addWidget(m_text);
  column->addWidget(m_source);
}

QString PipelineBox::text() const {
  return m_source->text().isEmpty() ? m_text->text()
                                    : m_text->text() + QLatin1Char('\n') + m_source->text();
}

void PipelineBox::setInput(const PipelineInput& input) {
  if (m_input == input) return;
  m_input = input;
  PipelineView view = makePipelineView(input);
  const bool isDrawn = view.words.isEmpty();
  m_chart->setVisible(isDrawn);
  m_source->setVisible(isDrawn);
  m_source->setText(view.source);
  m_text->setText(
      isDrawn ? tr("%1 stages, %2 micro-batches. A stage waits %3 of the time of the passes.")
                    .arg(format::count(view.schedule.stages),
                         format::count(view.schedule.micro_batches),
                         format::percent(IdleShare(view.schedule)))
              : view.words);
  m_chart->setSchedule(std::move(view.schedule), view.rest);
}

}  // namespace tessera::ui
