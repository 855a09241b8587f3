// SPDX-License-Identifier: Apache-2.0
// The canvases look like the pictures in golden/. The test compares the mean colours of blocks, so
// that another rasteriser of letters makes no difference. A test that fails saves the new picture,
// and one that marks the blocks that differ, in the folder of pictures. TESSERA_GOLDEN=write
// replaces the pictures in golden/.
#include <QDir>
#include <QImage>
#include <QPainter>
#include <QTest>
#include <cmath>
#include <functional>

#include "tests/folders.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/panel_scenes.h"
#include "ui/canvas/mesh_view.h"
#include "ui/views/link_canvas.h"
#include "ui/views/model_map.h"
#include "ui/views/tensor_canvas.h"
#include "ui/widgets/batch_strip.h"
#include "ui/widgets/pass_strip.h"
#include "ui/widgets/placement_strip.h"

using namespace tessera;

namespace {

constexpr int kBlock = 16;                // pixels
constexpr double kSameColour = 14;        // of 255, each of red, green and blue
constexpr double kMostDifferent = 0.005;  // of the blocks
constexpr QSize kWindow(1440, 900);
constexpr int kUntilDrawnMs = 2500, kPatienceMs = 10'000;

struct Golden {
  const char* file;
  const char* scene;  // of PanelScenes
  QSize size;  // of the canvas, so that no width of a text around it matters; height 0: its own
  std::function<QWidget*(QWidget&)> canvas;
};

/// The visible child of this class.
template <typename T>
QWidget* child(QWidget& window) {
  for (T* each : window.findChildren<T*>())
    if (each->isVisible()) return each;
  return nullptr;
}
/// The mesh without dots that move.
QWidget* stillMesh(QWidget& window) {
  auto* mesh = window.findChild<ui::MeshView*>();
  mesh->setReduceMotion(true);
  return mesh;
}

const std::vector<Golden>& goldens() {
  constexpr QSize mesh(640, 370), tensor(560, 300), links(620, 240), strip(600, 0);
  static const std::vector<Golden> all = {
      {"mesh-live", "mesh-live", mesh, stillMesh},
      {"mesh-draft", "mesh-draft", mesh, stillMesh},
      {"mesh-moving", "mesh-moving", mesh, stillMesh},
      {"mesh-lost", "mesh-lost-node", mesh, stillMesh},
      {"mesh-stale", "mesh-stale", mesh, stillMesh},
      {"mesh-large", "mesh-large", mesh, stillMesh},
      {"tensor", "tensors-one", tensor, child<ui::TensorCanvas>},
      {"tensor-draft", "tensors-draft", tensor, child<ui::TensorCanvas>},
      {"model", "tensors-live", tensor, child<ui::ModelMap>},
      {"links", "links-draft", links, child<ui::LinkCanvas>},
      {"pass", "data-live", strip, child<ui::PassStrip>},
      {"batches", "data-live", strip, child<ui::BatchStrip>},
      {"placement", "files-live", strip, child<ui::PlacementStrip>}};
  return all;
}

std::array<double, 3> meanOf(const QImage& image, const QRect& block) {
  std::array<double, 3> sum{};
  for (int y = block.top(); y <= block.bottom(); ++y) {
    const auto* line = reinterpret_cast<const QRgb*>(image.constScanLine(y));
    for (int x = block.left(); x <= block.right(); ++x) {
      sum[0] += qRed(line[x]);
      sum[1] += qGreen(line[x]);
      sum[2] += qBlue(line[x]);
    }
  }
  for (double& part : sum) part /= block.width() * block.height();
  return sum;
}

/// The blocks whose mean colours differ.
std::vector<QRect> differences(const QImage& a, const QImage& b) {
  std::vector<QRect> blocks;
  for (int y = 0; y < a.height(); y += kBlock) {
    for (int x = 0; x < a.width(); x += kBlock) {
      const QRect block = QRect(x, y, kBlock, kBlock) & a.rect();
      const auto one = meanOf(a, block), other = meanOf(b, block);
      for (std::size_t i = 0; i < one.size(); ++i) {
        if (std::abs(one[i] - other[i]) <= kSameColour) continue;
        blocks.push_back(block);
        break;
      }
    }
  }
  return blocks;
}

bool isTooMuch(const std::vector<QRect>& blocks, const QImage& image) {
  const double all =
      std::ceil(1.0 * image.width() / kBlock) * std::ceil(1.0 * image.height() / kBlock);
  return static_cast<double>(blocks.size()) > std::max(1.0, kMostDifferent * all);
}

QString folder() { return QStringLiteral(TESSERA_SOURCE_DIR "/tests/ui/golden/"); }

}  // namespace

class GoldenTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    test::setSceneSize(kWindow);
    m_pictures = qEnvironmentVariable("TESSERA_PICTURES", QDir::tempPath()) + u'/';
    QVERIFY(QDir().mkpath(m_pictures));
  }

  // The judge finds what is wrong before it finds that nothing is.
  void theJudgeSeesACellAndNoLetter() {
    QImage plain(480, 320, QImage::Format_RGB32);
    plain.fill(Qt::white);
    QImage text = plain, cell = plain;
    QPainter letters(&text);
    letters.setPen(QColor(230, 230, 230));  // what the edges of letters differ by
    letters.drawText(QRect(20, 20, 400, 40), QStringLiteral("n0g1 rank 1 of 8"));
    letters.end();
    QPainter box(&cell);
    box.fillRect(100, 100, 60, 40, QColor(0xcc, 0x66, 0x77));
    box.end();
    QVERIFY(!isTooMuch(differences(plain, text), plain));
    QVERIFY(isTooMuch(differences(plain, cell), plain));
  }

  void theCanvasesLookAsBefore_data() {
    QTest::addColumn<int>("index");
    for (int i = 0; i < static_cast<int>(goldens().size()); ++i)
      QTest::newRow(goldens()[static_cast<std::size_t>(i)].file) << i;
  }
  void theCanvasesLookAsBefore() {
    QFETCH(int, index);
    const Golden& golden = goldens()[static_cast<std::size_t>(index)];
    const QString name = QString::fromLatin1(golden.file) + QStringLiteral(".png");
    const auto& scenes = test::PanelScenes();
    const auto scene = std::find_if(scenes.begin(), scenes.end(), [&](const test::Scene& each) {
      return each.name == QLatin1String(golden.scene);
    });
    QVERIFY(scene != scenes.end());
    const test::Stage stage = scene->open();
    QWidget* canvas = golden.canvas(*stage.widget);
    QVERIFY2(canvas != nullptr, "the scene does not show this canvas");
    canvas->setFixedWidth(golden.size.width());
    if (golden.size.height() > 0) canvas->setFixedHeight(golden.size.height());
    const auto drawn = [canvas] {
      test::settle();
      return canvas->grab().toImage().convertToFormat(QImage::Format_RGB32);
    };
    if (qEnvironmentVariable("TESSERA_GOLDEN") == QLatin1String("write")) {
      QTest::qWait(kUntilDrawnMs);
      QVERIFY(drawn().save(folder() + name, "PNG", 0));  // compressed most
      return;
    }
    const QImage before = QImage(folder() + name).convertToFormat(QImage::Format_RGB32);
    // Plans, tensors and ages come a little later.
    QImage now;
    std::vector<QRect> blocks;
    const auto isEqual = [&] {
      now = drawn();
      if (now.size() != before.size()) return false;
      blocks = differences(now, before);
      return !isTooMuch(blocks, now);
    };
    if (QTest::qWaitFor(isEqual, kPatienceMs)) return;
    const QString accept = QStringLiteral("; TESSERA_GOLDEN=write %1 golden_test accepts it")
                               .arg(QCoreApplication::applicationFilePath());
    if (now.size() != before.size()) {
      now.save(m_pictures + name);
      QFAIL(qPrintable(QStringLiteral("%1 has %2 x %3 pixels, not %4 x %5")
                           .arg(m_pictures + name)
                           .arg(now.width())
                           .arg(now.height())
                           .arg(before.width())
                           .arg(before.height()) +
                       accept));
    }
    now.save(m_pictures + name);
    QImage marked = now;
    QPainter painter(&marked);
    painter.setPen(Qt::red);
    for (const QRect& block : blocks) painter.drawRect(block.adjusted(0, 0, -1, -1));
    painter.end();
    marked.save(m_pictures + QString::fromLatin1(golden.file) + QStringLiteral("-difference.png"));
    QFAIL(qPrintable(QStringLiteral("%1 differs in %2 blocks of %3 pixels from %4")
                         .arg(m_pictures + name)
                         .arg(blocks.size())
                         .arg(kBlock)
                         .arg(folder() + name) +
                     accept));
  }

 private:
  QString m_pictures;
};

TESSERA_THEMED_TEST(GoldenTest)
#include "golden_test.moc"
