// SPDX-License-Identifier: Apache-2.0
// Views as picture files: the size that was asked for, vectors with outlined letters, the same as
// the pixels.
#include "ui/picture/picture.h"

#include <QComboBox>
#include <QFile>
#include <QImage>
#include <QPainter>
#include <QSpinBox>
#include <QSvgRenderer>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/actions/action_registry.h"
#include "ui/dialogs/picture_dialog.h"
#include "ui/picture/svg_device.h"

using namespace tessera;
using test::Panel;

namespace {

/// The dialog of the File menu while a view is shown.
ui::PictureDialog* dialogOf(Panel& panel, const QString& view) {
  ui::ActionRegistry* const actions = panel.window->actions();
  actions->find(QStringLiteral("view.") + view)->trigger();
  test::settle();
  actions->find(QStringLiteral("file.picture"))->trigger();
  return panel.window->findChild<ui::PictureDialog*>();
}

/// Writes the chosen picture, and opens the dialog again for the next one.
/// \return the reason why it was not written; empty if it was
QString write(ui::PictureDialog* dialog, const QString& file) {
  QString problem = QStringLiteral("it did not end");
  bool hasEnded = false;
  const QObject context;
  QObject::connect(dialog, &ui::PictureDialog::saved, &context, [&] {
    problem.clear();
    hasEnded = true;
  });
  QObject::connect(dialog, &ui::PictureDialog::failed, &context, [&](const QString& why) {
    problem = why;
    hasEnded = true;
  });
  dialog->setAttribute(Qt::WA_DeleteOnClose, false);
  dialog->write(file);
  if (!QTest::qWaitFor([&] { return hasEnded; }, 20'000)) return problem;
  dialog->open();
  return problem;
}

QImage drawn(const QByteArray& svg, QSize size) {
  QImage image(size, QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::white);
  QSvgRenderer renderer(svg);
  QPainter painter(&image);
  renderer.render(&painter);
  return image;
}

/// The part of the pixels that differ by more than a shade.
double differingPart(const QImage& a, const QImage& b) {
  constexpr int kShade = 48;
  int different = 0;
  for (int y = 0; y < a.height(); ++y) {
    for (int x = 0; x < a.width(); ++x) {
      const QRgb one = a.pixel(x, y), other = b.pixel(x, y);
      const int by =
          std::max({std::abs(qRed(one) - qRed(other)), std::abs(qGreen(one) - qGreen(other)),
                    std::abs(qBlue(one) - qBlue(other))});
      different += by > kShade ? 1 : 0;
    }
  }
  return static_cast<double>(different) / (a.width() * a.height());
}

}  // namespace

class PictureTest : public QObject {
  Q_OBJECT

 private slots:
  void everyViewIsSaved_data() {
    QTest::addColumn<QString>("view");
    QTest::addColumn<bool>("isVector");
    QTest::addColumn<double>("most");  // of the pixels may differ
    for (const char* view : {"mesh", "tensors", "links"}) {
      QTest::newRow(view) << QString::fromLatin1(view) << true << 0.02;
    }
    // Qt's reader of SVG ignores clips, by which the pass strip is filled.
    QTest::newRow("data") << QStringLiteral("data") << true << 0.06;
    QTest::newRow("files") << QStringLiteral("files") << false << 0.02;  // a tree with icons
  }
  void everyViewIsSaved() {
    QFETCH(QString, view);
    QFETCH(bool, isVector);
    QFETCH(double, most);
    Panel panel;
    ui::PictureDialog* dialog = dialogOf(panel, view);
    QVERIFY(dialog != nullptr);
    constexpr int kWidth = 1600;
    dialog->widthField()->setValue(kWidth);
    const QTemporaryDir folder;
    const QString png = folder.filePath(QStringLiteral("a.png")),
                  svg = folder.filePath(QStringLiteral("a.SVG"));
    QCOMPARE(write(dialog, png), QString());
    QCOMPARE(write(dialog, svg), QString());
    const QImage pixels(png);
    QCOMPARE(pixels.width(), kWidth);
    QFile file(svg);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QVERIFY(text.contains("width=\"1600\""));
    QVERIFY2(!text.contains("<text"), "letters need a font that may be missing");
    QVERIFY(text.contains("aria-label="));
    if (isVector) QVERIFY2(!text.contains("<image"), "pixels in a drawing");
    const QImage again = drawn(text, pixels.size());
    const QString kept = qEnvironmentVariable("TESSERA_PICTURES");
    if (!kept.isEmpty()) {
      QVERIFY(pixels.save(kept + u'/' + view + QStringLiteral(".png")));
      QVERIFY(again.save(kept + u'/' + view + QStringLiteral("-svg.png")));
    }
    const double different = differingPart(pixels, again);
    QVERIFY2(different < most, qPrintable(QString::number(different)));
  }

  void theLegendIsBelowTheMesh() {
    Panel panel;
    ui::PictureDialog* dialog = dialogOf(panel, QStringLiteral("mesh"));
    const QTemporaryDir folder;
    const QString svg = folder.filePath(QStringLiteral("a.svg"));
    QCOMPARE(write(dialog, svg), QString());
    QFile file(svg);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray text = file.readAll();
    QVERIFY(text.contains("aria-label=\"n0\""));
    QVERIFY2(text.contains("aria-label=\"tp 0\"") || text.contains("aria-label=\"pp 0 · tp 0\""),
             text.left(2000));
  }

  void otherPartsCanBeChosen() {
    Panel panel;
    ui::PictureDialog* dialog = dialogOf(panel, QStringLiteral("mesh"));
    QStringList titles;
    for (int i = 0; i < dialog->choice()->count(); ++i) titles << dialog->choice()->itemText(i);
    QCOMPARE(titles.front(), QStringLiteral("Mesh"));
    QCOMPARE(titles.back(), QStringLiteral("Whole window"));
    dialog->choice()->setCurrentIndex(static_cast<int>(titles.size()) - 1);
    QCOMPARE(dialog->widthField()->value(), 2 * panel.window->width());
    QVERIFY2(dialog->effect().contains(QStringLiteral("cm wide")), qPrintable(dialog->effect()));
    const QTemporaryDir folder;
    for (int i = 0; i < dialog->choice()->count(); ++i) {
      dialog->choice()->setCurrentIndex(i);
      const QString png = folder.filePath(QString::number(i) + QStringLiteral(".png"));
      QCOMPARE(write(dialog, png), QString());
      QCOMPARE(QImage(png).width(), dialog->widthField()->value());
    }
    const QString refused = write(dialog, folder.filePath(QStringLiteral("no/such/a.png")));
    QVERIFY2(refused.contains(QStringLiteral("no/such/a.png")), qPrintable(refused));
  }

  // What is clipped on the screen is clipped in the file, in the coordinates of the picture.
  void clipsAndTransformsAreKept() {
    ui::SvgDevice device(QSize(100, 100), 200, QStringLiteral("a < b"), {});
    QPainter painter(&device);
    painter.translate(50, 0);
    painter.setClipRect(QRect(0, 0, 10, 10));
    painter.fillRect(QRect(0, 0, 40, 40), Qt::red);
    painter.setClipping(false);
    painter.setPen(QPen(Qt::blue, 2, Qt::DashLine));
    painter.drawLine(0, 50, 40, 50);
    painter.setOpacity(0.5);
    painter.drawText(QPoint(0, 90), QStringLiteral("x & \x01y"));
    painter.end();
    const QByteArray svg = device.bytes();
    QVERIFY(svg.contains("<title>a &lt; b</title>"));
    QVERIFY2(svg.contains("<clipPath id=\"clip1\"><path d=\"M50 0L60 0L60 10L50 10L50 0\"/>"), svg);
    QVERIFY2(svg.contains("stroke-dasharray=\"8 4\""), svg);
    QVERIFY2(svg.contains("aria-label=\"x &amp; y\""), svg);
    QVERIFY2(svg.contains("fill-opacity=\"0.5\""), svg);
    QVERIFY(QSvgRenderer(svg).isValid());
  }
};

TESSERA_THEMED_TEST(PictureTest)
#include "picture_test.moc"
