// generate MODEL COUNT: samples from a model, with progress, into sample-N.png.
#include <addp/addp.h>

#include <cstdlib>
#include <iostream>
#include <stdexcept>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: generate MODEL COUNT   (addp " << addp::version() << ")\n";
    return 2;
  }
  try {
    const addp::Model model(argv[1]);
    addp::GenerateRequest request;
    request.count = std::atoi(argv[2]);
    request.on_step = [](std::int64_t step, std::int64_t steps, const std::vector<addp::Picture>&) {
      std::cerr << "step " << step + 1 << " of " << steps << "\n";
      return true;
    };
    int number = 0;
    for (const auto& picture : model.generate(request)) {
      addp::save_picture("sample-" + std::to_string(number++) + ".png", picture);
    }
    std::cout << number << " pictures of " << model.picture_size() << "x" << model.picture_size()
              << "\n";
  } catch (const std::runtime_error& error) {
    std::cerr << "generate: " << error.what() << "\n";
    return 1;
  }
}
