"""The page in a real browser: python browser_test.py PROGRAM MODELS [SCREENSHOTS]."""
import io
import json
import os
import subprocess
import tempfile
import time
import unittest

from PIL import Image
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from browsing import MODELS, PICTURE, PROGRAM, PageCase, open_browser
from serving import Server


class Page(PageCase):
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

    def test_a_folder_is_looked_at(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "deep"))
            for name, data in (("one.png", PICTURE), ("deep/two.png", PICTURE), ("notes.txt", b"no picture")):
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(data)
            self.by("tab-recognise").click()
            self.assertFalse(self.by("export-csv").is_enabled())
            self.by("recognise-dir").send_keys(folder)
            self.wait(lambda: "2 of 2" in self.by("recognise-status").text)
            titles = sorted(title.text for title in self.all("#recognised h3"))
            self.assertTrue(titles[0].endswith("/deep/two.png") and titles[1].endswith("/one.png"), titles)

    def test_a_file_that_is_too_large_is_not_sent(self):
        big = ("const transfer = new DataTransfer(); transfer.items.add(new File([new Uint8Array(33 << 20)], 'big.png', {type: 'image/png'}));"
               "arguments[0].dispatchEvent(new DragEvent('drop', {dataTransfer: transfer, bubbles: true, cancelable: true}))")
        for tab in ("recognise", "edit"):
            self.by("tab-" + tab).click()
            self.driver.execute_script("document.getElementById('toasts').replaceChildren()")
            self.driver.execute_script(big, self.by("main"))
            self.wait(lambda: "31 MiB" in self.by("toasts").text)
        self.assertIn("1 failed", self.driver.execute_script("return document.getElementById('recognise-status').textContent"))

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
