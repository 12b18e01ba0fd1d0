"""The Edit tab in a real browser: python browser_edit_test.py PROGRAM MODELS [SCREENSHOTS]."""
import base64
import io
import unittest

from PIL import Image
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from browsing import PICTURE, PageCase


class Edit(PageCase):
    def open_in_editor(self):
        self.by("tab-edit").click()
        self.drop(PICTURE, "mine.png")
        self.wait(lambda: "48×40" in self.by("edit-info").text)

    # Pixels of the screen per pixel of the picture of 48x40, which is in the middle of the canvas.
    def editor_scale(self):
        return self.driver.execute_script("const c = document.getElementById('edit-canvas'), r = devicePixelRatio;"
                                          "return Math.min((c.width - 72 * r) / 48, (c.height - 72 * r) / 40) / r")

    # Drags along points of the picture, (0, 0) being its middle.
    def drag_in_editor(self, *points):
        scale = self.editor_scale()
        at = [(round(x * scale), round(y * scale)) for x, y in points]
        chain = ActionChains(self.driver, duration=20).move_to_element_with_offset(self.by("edit-canvas"), *at[0]).click_and_hold()
        for before, after in zip(at, at[1:]):
            chain = chain.move_by_offset(after[0] - before[0], after[1] - before[1])
        chain.release().perform()

    def hidden(self):
        return int(self.by("edit-info").text.split(", ")[-1].split()[0])

    def press(self, *keys):
        self.driver.execute_script("document.getElementById('edit-canvas').focus()")
        ActionChains(self.driver).send_keys(*keys).perform()

    def test_a_picture_is_pasted(self):
        self.by("tab-edit").click()
        self.driver.execute_script(
            "const transfer = new DataTransfer(); transfer.items.add(new File([Uint8Array.from(atob(arguments[0]), (c) => c.charCodeAt(0))],"
            "'image.png', {type: 'image/png'})); document.dispatchEvent(new ClipboardEvent('paste', {clipboardData: transfer, bubbles: true}))",
            base64.b64encode(PICTURE).decode())
        self.wait(lambda: "48×40" in self.by("edit-info").text)

    def test_mask_is_drawn_and_filled_in(self):
        self.open_in_editor()
        self.assertFalse(self.by("edit-go").is_enabled())
        canvas = self.by("edit-canvas")
        ActionChains(self.driver).move_to_element(canvas).click_and_hold().move_by_offset(40, 10).move_by_offset(20, 30).release().perform()
        self.wait(lambda: self.by("edit-go").is_enabled())
        self.by("edit-undo").click()
        self.wait(lambda: not self.by("edit-go").is_enabled())
        self.by("edit-redo").click()
        self.wait(lambda: self.by("edit-go").is_enabled())
        self.put("edit-count", 3)
        self.put("edit-steps", 4)
        self.look("edit-mask")
        self.driver.execute_script(  # remembers the mask that is sent
            "const old = window.fetch; window.fetch = (path, options) => { const mask = options?.body?.get?.('mask'); if (mask) {"
            "const reader = new FileReader(); reader.onload = () => { window.sentMask = reader.result; }; reader.readAsDataURL(mask); }"
            "return old(path, options); }")
        self.by("edit-go").click()
        self.wait(lambda: len(self.all("#variants img")) == 3)
        mask = Image.open(io.BytesIO(base64.b64decode(self.driver.execute_script("return window.sentMask").split(",")[1]))).convert("L")
        before = Image.open(io.BytesIO(PICTURE)).convert("RGB")
        for image in self.all("#variants img"):
            after = Image.open(io.BytesIO(self.bytes_of(image))).convert("RGB")
            changed = 0
            for x in range(48):
                for y in range(40):
                    same = after.getpixel((x, y)) == before.getpixel((x, y))
                    self.assertTrue(same or mask.getpixel((x, y)) > 127, (x, y))
                    changed += not same
            self.assertGreater(changed, 20)
        first = [self.bytes_of(image) for image in self.all("#variants img")]
        self.by("edit-go").click()  # with the next seed
        self.wait(lambda: self.by("edit-go").is_enabled() and self.by("edit-status").text.endswith("s"))
        self.wait(lambda: first != [self.bytes_of(image) for image in self.all("#variants img")])
        self.put("compare-range", 30)
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", self.by("compare"))
        ActionChains(self.driver, duration=20).move_to_element(self.by("compare")).click_and_hold().move_by_offset(self.by("compare").size["width"] // 4, 0).release().perform()
        self.assertTrue(73 <= int(self.by("compare-range").get_property("value")) <= 77)
        self.look("edit-variants")
        self.by("variant-keep").click()
        edited = self.bytes_of(self.all("#gallery .shot img")[0])
        self.by("tab-make").click()
        self.assertFalse(self.all("#gallery .shot button")[1].is_enabled())  # not made again from a seed alone
        self.drop(edited)
        self.wait(lambda: "was edited" in self.by("toasts").text)
        self.by("tab-edit").click()
        self.by("variant-use").click()
        self.wait(lambda: self.by("edit-results").is_displayed() is False)

    def test_tools(self):
        self.open_in_editor()
        self.press("r")
        self.drag_in_editor((-10, -10), (10, 5))
        self.assertTrue(20 * 15 - 60 <= self.hidden() <= 20 * 15 + 60, self.hidden())
        box = self.hidden()
        self.press("i")
        self.assertEqual(self.hidden(), 48 * 40 - box)
        self.press(Keys.DELETE)
        self.assertEqual(self.hidden(), 0)
        self.press("l")
        self.drag_in_editor((-12, -8), (12, -8), (12, 8), (-12, 8))  # closes by itself
        lasso = self.hidden()
        self.assertTrue(24 * 16 - 90 <= lasso <= 24 * 16 + 90, lasso)
        self.press("e")
        self.drag_in_editor((-12, 0), (12, 0))
        self.assertLess(self.hidden(), lasso - 100)
        self.press(Keys.DELETE)
        size = int(self.by("brush-size").get_property("value"))
        wheel = "document.getElementById('edit-canvas').dispatchEvent(new WheelEvent('wheel', {deltaY: -100, ctrlKey: %s, cancelable: true}))"
        self.driver.execute_script(wheel % "false")
        self.assertGreater(int(self.by("brush-size").get_property("value")), size)
        # A stroke of the same way on the screen is shorter where the picture is larger, and elsewhere where it was moved.
        self.by("zoom-fit").click()
        self.press("r")
        self.drag_in_editor((-10, -10), (10, 10))
        before = self.hidden()
        self.press(Keys.DELETE)
        for _ in range(5):
            self.by("zoom-in").click()
        self.drag_in_editor((-5, -5), (5, 5))
        self.assertLess(self.hidden(), before / 4)
        self.press(Keys.DELETE, "h")
        self.drag_in_editor((0, 0), (18, 15))
        self.press("r")
        self.drag_in_editor((-30, -20), (-2, -2))  # now outside of the picture in part
        self.assertGreater(self.hidden(), 0)
        self.by("zoom-fit").click()

    def test_two_fingers_zoom(self):
        self.open_in_editor()
        fingers = """
          const canvas = document.getElementById('edit-canvas'), box = canvas.getBoundingClientRect();
          canvas.setPointerCapture = () => {};
          const touch = (kind, id, x, y) => canvas.dispatchEvent(new PointerEvent(kind, {pointerId: id, pointerType: 'touch', button: 0,
            buttons: 1, clientX: box.left + box.width / 2 + x, clientY: box.top + box.height / 2 + y}));
          touch('pointerdown', 1, -20, 0); touch('pointerdown', 2, 20, 0); touch('pointermove', 1, -80, 0); touch('pointermove', 2, 80, 0);
          touch('pointerup', 1, -80, 0); touch('pointerup', 2, 80, 0);"""
        self.press("r")
        self.drag_in_editor((-5, -5), (5, 5))
        before = self.hidden()
        self.press(Keys.DELETE, "b")
        self.driver.execute_script(fingers)
        self.assertEqual(self.hidden(), 0)  # the first finger painted nothing
        self.press("r")
        self.drag_in_editor((-5, -5), (5, 5))
        self.assertLess(self.hidden(), before / 8)  # four times as large

    def test_edges_are_dragged_outwards(self):
        self.open_in_editor()
        self.drag_in_editor((23, 0), (23, 5))  # just inside: painted
        self.assertGreater(self.hidden(), 0)
        self.by("edit-undo").click()
        self.drag_in_editor((24.1, 0), (34.1, 0))
        margin = int(self.by("edit-right").get_property("value"))
        self.assertTrue(8 <= margin <= 12, margin)
        self.assertEqual(self.hidden(), 40 * margin)
        self.by("edit-undo").click()
        self.assertEqual(self.by("edit-right").get_property("value"), "0")
        self.by("edit-redo").click()
        self.assertEqual(self.by("edit-right").get_property("value"), str(margin))
        self.put("edit-count", 1)
        self.put("edit-steps", 3)
        self.by("edit-go").click()
        self.wait(lambda: len(self.all("#variants img")) == 1)
        self.assertEqual(self.driver.execute_script("return arguments[0].naturalWidth", self.all("#variants img")[0]), 48 + margin)


if __name__ == "__main__":
    unittest.main(verbosity=2)
