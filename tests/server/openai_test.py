"""The service through the real client of OpenAI: python openai_test.py PROGRAM MODELS."""
import base64
import io
import os
import sys
import unittest

import openai

from serving import Server, difference, pixels, png

PROGRAM, MODELS = sys.argv.pop(1), sys.argv.pop(1)
SIDE = 32
PICTURE = png(SIDE, SIDE, lambda x, y: (7 * x, 7 * y, 90))


class OpenAi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(PROGRAM, [os.path.join(MODELS, "addp")], "--token", "a token for the test")
        cls.client = openai.OpenAI(base_url=cls.server.address + "/v1", api_key="a token for the test", max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def named(self, data):
        file = io.BytesIO(data)
        file.name = "picture.png"
        return file

    def test_models(self):
        self.assertEqual([model.id for model in self.client.models.list()], ["addp"])

    def test_generations(self):
        answer = self.client.images.generate(model="addp", prompt="a ring", n=2, response_format="b64_json", extra_body={"seed": 5, "steps": 3})
        made = [base64.b64decode(one.b64_json) for one in answer.data]
        self.assertEqual(len(made), 2)
        self.assertEqual(pixels(made[0])[:2], (SIDE, SIDE))
        self.assertIn(b"addp:class", made[0])
        again = self.client.images.generate(model="addp", prompt="anything", extra_body={"seed": 5, "steps": 3, "class": "ring"})
        self.assertLessEqual(difference(base64.b64decode(again.data[0].b64_json), made[0])[0], 1)
        url = self.client.images.generate(model="addp", prompt="", response_format="url", size=f"{SIDE}x{SIDE}", extra_body={"steps": 2}).data[0].url
        self.assertTrue(url.startswith("data:image/png;base64,"))

    def test_edits(self):
        def hole(x, y):
            return 8 <= x < 20 and 8 <= y < 20
        mask = png(SIDE, SIDE, lambda x, y: (255, 255, 255, 0 if hole(x, y) else 255))
        holed = png(SIDE, SIDE, lambda x, y: (7 * x, 7 * y, 90, 0 if hole(x, y) else 255))
        before = pixels(PICTURE)[2]
        for picture, extra in ((PICTURE, {"mask": self.named(mask)}), (holed, {})):
            answer = self.client.images.edit(model="addp", image=self.named(picture), prompt="star", n=1, extra_body={"steps": "3"}, **extra)
            after = pixels(base64.b64decode(answer.data[0].b64_json))[2]
            changed = 0
            for y in range(SIDE):
                for x in range(SIDE):
                    same = after[y][3 * x:3 * x + 3] == before[y][3 * x:3 * x + 3]
                    self.assertTrue(same or hole(x, y), (x, y))
                    changed += not same
            self.assertGreater(changed, 70)

    def test_errors_are_the_clients_own(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.client.images.generate(model="addp", prompt="x", size="1024x1024")
        self.assertIn(f"{SIDE}x{SIDE}", str(caught.exception))
        with self.assertRaises(openai.NotFoundError):
            self.client.images.generate(model="dall-e-3", prompt="x")
        with self.assertRaises(openai.AuthenticationError):
            openai.OpenAI(base_url=self.server.address + "/v1", api_key="another", max_retries=0).models.list()


if __name__ == "__main__":
    unittest.main(verbosity=2)
