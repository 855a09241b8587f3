// SPDX-License-Identifier: GPL-3.0-or-later
// The visible plots as files, with the playhead, without pointer and focus.
#include <QPixmap>
#include <QScopedValueRollback>

#include "ui/plots/job_plots_impl.h"
#include "ui/plots/plot_picture.h"

namespace tessera::ui {

QByteArray JobPlots::toPng(QSize size, double scale) const {
  QPixmap picture;
  {
    const QScopedValueRollback exports(m_impl->exporting, true);
    picture = m_impl->canvas.toPixmap(size, scale);
  }
  m_impl->canvas.replot();
  return pngOf(picture);
}

void JobPlots::drawTo(QPaintDevice* device, QSize size) const {
  {
    const QScopedValueRollback exports(m_impl->exporting, true);
    m_impl->canvas.drawTo(device, size);
  }
  m_impl->canvas.replot();
}

QByteArray JobPlots::toSvg(QSize size) const {
  return svgOf(*this, size, [&](QPaintDevice* file) { drawTo(file, size); });
}

}  // namespace tessera::ui
