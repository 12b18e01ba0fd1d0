"""What the tests in a real browser share: a server, a browser, and hands for the page."""
import base64
import os
import sys
import tempfile
import unittest

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

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


class PageCase(unittest.TestCase):
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
