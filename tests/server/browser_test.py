"""The page in a real browser: python browser_test.py PROGRAM MODELS [SCREENSHOTS]."""
import base64
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from serving import Server, png

PROGRAM, MODELS = sys.argv.pop(1), sys.argv.pop(1)
SCREENSHOTS = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
NAMES = ["addp", "predictor", "classifier", "detector", "segmenter"]
PICTURE = png(48, 40, lambda x, y: (5 * x, 6 * y, (x * y) % 256))

# Drops a file onto the page as a hand would: Chrome lets scripts make the transfer.
DROP = """
const [data, name, target] = arguments;
const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
const transfer = new DataTransfer();
transfer.items.add(new File([bytes], name, {type: "image/png"}));
target.dispatchEvent(new DragEvent("drop", {dataTransfer: transfer, bubbles: true, cancelable: true}));
"""


def open_browser(folder):
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": folder})
    driver = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
    driver.set_window_size(1400, 1000)
    return driver


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = Server(PROGRAM, [os.path.join(MODELS, name) for name in NAMES], "--watch", MODELS, "--data", "shapes:size=32,count=8,val=4")
        cls.driver = open_browser(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.server.stop()
        cls.folder.cleanup()

    def setUp(self):
        self.driver.get(self.server.address + "/")
        self.driver.execute_script("localStorage.clear()")
        self.ready()

    def ready(self):
        self.wait(lambda: self.driver.execute_script("return document.documentElement.dataset.ready") == "yes")
        self.driver.execute_script("window.blobs = {}; const make = URL.createObjectURL; URL.createObjectURL = (blob) => {"
                                   "const address = make(blob); window.blobs[address] = blob; return address; }")

    def tearDown(self):
        problems = [entry for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        self.assertEqual(problems, [])

    def wait(self, condition, seconds=60):
        return WebDriverWait(self.driver, seconds, 0.1).until(lambda _: condition())

    def by(self, name):
        return self.driver.find_element(By.ID, name)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def put(self, name, value):
        self.driver.execute_script("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true})); "
                                   "arguments[0].dispatchEvent(new Event('change', {bubbles: true}))", self.by(name), value)

    def drop(self, data, name="picture.png"):
        self.driver.execute_script(DROP, base64.b64encode(data).decode(), name, self.by("main"))

    def look(self, name):
        if SCREENSHOTS:
            os.makedirs(SCREENSHOTS, exist_ok=True)
            self.driver.save_screenshot(os.path.join(SCREENSHOTS, name + ".png"))

    # The bytes behind an <img> with a blob: address, which the page's policy lets nobody fetch.
    def bytes_of(self, image):
        return base64.b64decode(self.driver.execute_async_script(
            "const done = arguments[1], reader = new FileReader(); reader.onload = () => done(reader.result.split(',')[1]);"
            "reader.readAsDataURL(window.blobs[arguments[0].src])", image))

    def make(self, count=3, steps=6, **settings):
        self.put("make-count", count)
        self.put("make-steps", steps)
        for name, value in settings.items():
            self.put("make-" + name.replace("_", "-"), value)
        before = len(self.all("#gallery .shot"))
        self.by("make-go").click()
        self.wait(lambda: len(self.all("#gallery .shot")) == before + count)
        self.wait(lambda: self.by("make-go").is_enabled())

    def test_steps_arrive_and_can_be_gone_through(self):
        self.driver.execute_script("window.seen = []; new MutationObserver(() => seen.push(document.getElementById('make-status').textContent))"
                                   ".observe(document.getElementById('make-status'), {childList: true})")
        self.make(count=3, steps=6, **{"class": "ring"})
        seen = self.driver.execute_script("return window.seen")
        for step in range(1, 7):
            self.assertIn(f"step {step} of 6", seen)
        first = self.driver.execute_script("return document.getElementById('view-tokens').toDataURL()")
        self.put("make-step", 0)
        self.assertIn("step 1/6", self.by("make-step-text").text)
        self.assertNotEqual(first, self.driver.execute_script("return document.getElementById('view-tokens').toDataURL()"))
        self.by("make-batch").find_elements(By.TAG_NAME, "button")[2].click()
        self.look("make")

    def test_a_dropped_picture_restores_its_settings(self):
        self.make(count=2, steps=5, temperature=3.5, top_p=0.8, **{"class": "star", "seed": 4242})
        data = self.bytes_of(self.all("#gallery .shot img")[0])  # the newest, number 1
        self.driver.get(self.server.address + "/")
        self.ready()
        self.drop(data)
        self.wait(lambda: self.by("make-seed").get_attribute("value") == "4242")
        wanted = {"make-steps": "5", "make-temperature": "3.5", "make-top-p": "0.8", "make-class": "star", "make-first": "1", "make-count": "1"}
        for name, value in wanted.items():
            self.assertEqual(self.by(name).get_property("value"), value, name)
        self.make(count=1, steps=5)
        again, before = (Image.open(io.BytesIO(one)).convert("RGB") for one in (self.bytes_of(self.all("#gallery .shot img")[0]), data))
        self.assertLessEqual(max(abs(a - b) for a, b in zip(again.tobytes(), before.tobytes())), 1)
        self.drop(PICTURE)
        self.wait(lambda: "no recipe" in self.by("toasts").text)

    def test_a_picture_of_the_command_line_finds_its_model(self):
        with tempfile.TemporaryDirectory() as out:
            subprocess.run([PROGRAM, "generate", "--model", os.path.join(MODELS, "predictor"), "-n", "1", "--steps", "3", "--seed", "77",
                            "--threads", "1", "--out", out, "-q"], check=True, stdout=subprocess.DEVNULL)
            with open(os.path.join(out, "000000.png"), "rb") as file:
                data = file.read()
        self.drop(data)
        self.wait(lambda: self.by("make-seed").get_attribute("value") == "77")
        self.assertEqual(self.by("make-model").get_property("value"), "predictor")
        digest = next(model["sha256"] for model in self.server.json("/api/models")["models"] if model["name"] == "predictor").encode()
        self.assertIn(digest, data)
        self.drop(data.replace(digest, b"0" * 64))
        self.wait(lambda: "not served here" in self.by("toasts").text)

    def test_mask_is_drawn_and_filled_in(self):
        self.by("tab-edit").click()
        self.drop(PICTURE, "mine.png")
        self.wait(lambda: "48×40" in self.by("edit-info").text)
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

    def open_in_editor(self, data=PICTURE):
        self.by("tab-edit").click()
        self.drop(data, "mine.png")
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

    def test_pictures_are_recognised(self):
        self.by("tab-recognise").click()
        self.drop(PICTURE, "<img src=x onerror=alert(1)>.png")
        self.wait(lambda: len(self.all("#recognised .bar")) >= 3)
        self.wait(lambda: "1 of 1" in self.by("recognise-status").text)
        self.assertEqual(self.all("#recognised h3")[0].text, "<img src=x onerror=alert(1)>.png")
        self.assertGreater(len(self.all("#recognised .legend span")), 0)
        self.assertIn("found", self.by("recognised").text)
        self.assertGreater(len(self.all("#recognised .near img")), 0)
        self.put("threshold", 5)
        self.by("show-labels").click()
        self.look("recognise")
        for kind, ending in (("json", ".json"), ("coco", "-coco.json"), ("csv", ".csv")):
            self.by("export-" + kind).click()
            path = os.path.join(self.folder.name, "recognised" + ending)
            self.wait(lambda: os.path.exists(path) and os.path.getsize(path) > 20)
        with open(os.path.join(self.folder.name, "recognised-coco.json")) as file:
            self.assertEqual(json.load(file)["images"][0]["width"], 48)

    def test_what_is_it_and_edit_from_the_gallery(self):
        self.make(count=1, steps=3)
        self.driver.set_window_size(700, 700)
        button = self.all("#gallery .shot button")[3]
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
        self.assertGreater(self.driver.execute_script("return scrollY"), 0)
        button.click()
        self.assertEqual(self.driver.execute_script("return scrollY"), 0)  # what it is taken over to is in sight
        self.driver.set_window_size(1400, 1000)
        self.wait(lambda: len(self.all("#recognised .bar")) >= 3)
        self.wait(lambda: "1 of 1" in self.by("recognise-status").text)
        self.by("tab-make").click()
        self.all("#gallery .shot button")[2].click()
        self.wait(lambda: "32×32" in self.by("edit-info").text)

    def test_runs_are_watched(self):
        self.by("tab-train").click()
        self.wait(lambda: len(self.all("#run-charts svg")) >= 2)
        self.assertIn("addp", self.by("runs").text)
        for button in self.all("#runs button"):
            if button.text.startswith("addp"):
                button.click()
                break
        self.wait(lambda: self.by("run-name").text == "addp")
        self.wait(lambda: self.all("#run-charts svg"))
        ActionChains(self.driver).move_to_element(self.all("#run-charts svg")[0]).perform()
        self.assertRegex(self.all("#run-charts .values")[0].text, r"^step \d+: *train ")
        self.look("train")
        # The list is asked for anew every two seconds, and the keyboard stays where it was.
        button = self.all("#runs button")[-1]
        self.driver.execute_script("arguments[0].focus(); window.asked = 0; const old = window.fetch;"
                                   "window.fetch = (path, options) => { window.asked += path === '/api/runs'; return old(path, options); }", button)
        self.wait(lambda: self.driver.execute_script("return window.asked") >= 3)
        self.assertEqual(self.driver.switch_to.active_element, button)

    def test_keyboard_alone(self):
        self.put("make-count", 1)
        self.put("make-steps", 3)
        keys = ActionChains(self.driver)
        self.driver.execute_script("document.activeElement.blur()")
        for _ in range(40):  # to the button that makes pictures
            keys = ActionChains(self.driver).send_keys(Keys.TAB)
            keys.perform()
            if self.driver.switch_to.active_element.get_attribute("id") == "make-go":
                break
        self.assertEqual(self.driver.switch_to.active_element.get_attribute("id"), "make-go")
        ActionChains(self.driver).send_keys(Keys.ENTER).perform()
        self.wait(lambda: len(self.all("#gallery .shot")) == 1)
        self.wait(lambda: self.by("make-go").is_enabled())
        self.driver.execute_script("document.getElementById('tab-make').focus()")
        ActionChains(self.driver).send_keys(Keys.ARROW_RIGHT).perform()
        self.assertTrue(self.by("edit").is_displayed())
        self.drop(PICTURE)
        self.wait(lambda: "48×40" in self.by("edit-info").text)
        self.driver.execute_script("document.getElementById('edit-canvas').focus()")
        ActionChains(self.driver).send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.SPACE, Keys.ARROW_DOWN, Keys.SPACE, "]").perform()
        self.wait(lambda: self.by("edit-go").is_enabled())
        self.put("edit-count", 1)
        self.put("edit-steps", 2)
        self.driver.execute_script("document.getElementById('edit-canvas').focus()")
        ActionChains(self.driver).key_down(Keys.CONTROL).send_keys(Keys.ENTER).key_up(Keys.CONTROL).perform()
        self.wait(lambda: len(self.all("#variants img")) == 1)

    def test_everything_has_a_name(self):
        nameless = self.driver.execute_script("""
          return [...document.querySelectorAll('button, input, select, canvas, [role=tab], progress')].filter((node) => {
            if (node.type === 'file' || node.closest('.thumbs')) return false;
            const label = node.getAttribute('aria-label') || node.textContent.trim() || node.labels?.[0]?.textContent.trim() || node.title;
            return !label; }).map((node) => node.outerHTML)""")
        self.assertEqual(nameless, [])

    def test_dark_and_narrow(self):
        self.driver.execute_script("localStorage.setItem('addp-theme', 'light')")
        self.setUp()
        self.make(count=2, steps=3)
        self.by("theme").click()
        self.wait(lambda: self.driver.execute_script("return document.documentElement.dataset.theme") == "dark")
        self.look("make-dark")
        self.driver.set_window_size(420, 900)
        try:
            for tab in ("make", "edit", "recognise", "train"):
                self.by("tab-" + tab).click()
                time.sleep(0.2)
                too_wide = self.driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
                self.assertLessEqual(too_wide, 0, tab)
                self.look("narrow-" + tab)
        finally:
            self.driver.set_window_size(1400, 1000)

    def test_a_failed_request_says_what_to_do(self):
        self.driver.execute_script("document.getElementById('make-form').noValidate = true")
        self.put("make-steps", 9999)
        self.by("make-go").click()
        self.wait(lambda: "outside" in self.by("toasts").text)
        self.assertTrue(self.by("make-go").is_enabled())
        # The browser itself reports an answer of 400 as an error of the page; that one is wanted.
        self.assertTrue(all("400" in entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"))


class Token(unittest.TestCase):
    def test_the_page_asks_for_the_token(self):
        with tempfile.TemporaryDirectory() as folder, Server(PROGRAM, [os.path.join(MODELS, "addp")], "--token", "a long enough token") as server:
            driver = open_browser(folder)
            try:
                driver.get(server.address + "/")
                wait = WebDriverWait(driver, 20, 0.1)
                wait.until(lambda d: d.find_element(By.ID, "token-form").is_displayed())
                driver.find_element(By.ID, "token").send_keys("a long enough token", Keys.ENTER)
                wait.until(lambda d: d.execute_script("return document.documentElement.dataset.ready") == "yes")
                driver.get("about:blank")
                driver.get(server.address + "/#token=a%20long%20enough%20token")
                wait.until(lambda d: d.execute_script("return document.documentElement.dataset.ready") == "yes")
                self.assertNotIn("token", driver.current_url)
            finally:
                driver.quit()


if __name__ == "__main__":
    unittest.main(verbosity=2)
