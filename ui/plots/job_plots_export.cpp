// SPDX-License-Identifier: GPL-3.0-or-later
// The plots as files: what is in sight, with the playhead, without pointer and focus.
#include <QBuffer>
#include <QPixmap>
#include <QScopedValueRollback>
#include <QSvgGenerator>

#include "ui/plots/job_plots_impl.h"

namespace tessera::ui {

QByteArray JobPlots::toPng(QSize size, double scale) const {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  {
    const QScopedValueRollback exports(m_impl->exporting, true);
    m_impl->canvas.toPixmap(size, scale).save(&buffer, "PNG");
  }
  m_impl->canvas.replot();
  return bytes;
}

QByteArray JobPlots::toSvg(QSize size) const {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  QSvgGenerator file;
  file.setOutputDevice(&buffer);
  file.setSize(size);
  file.setViewBox(QRect(QPoint(), size));
  file.setTitle(accessibleName());
  file.setDescription(accessibleDescription());
  {
    const QScopedValueRollback exports(m_impl->exporting, true);
    m_impl->canvas.drawTo(&file, size);
  }
  m_impl->canvas.replot();
  return bytes;
}

}  // namespace tessera::ui
