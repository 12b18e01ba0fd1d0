#include "server/jobs/queue.h"

#include <gtest/gtest.h>

#include <future>
#include <semaphore>

#include "base/error.h"
#include "server/http/http_error.h"

namespace addp {
namespace {

using namespace std::chrono_literals;

// What the computing thread did, batch by batch: how many pictures of how many jobs.
struct Record {
  std::mutex mutex;
  std::vector<std::vector<Share>> batches;
};

class FakeJob : public Job {
 public:
  FakeJob(std::string key, std::int64_t pictures, Record& record,
          std::function<void(const std::vector<Share>&)> body = {})
      : Job(std::move(key), pictures), record_(record), body_(std::move(body)) {}

  void run(const std::vector<Share>& shares) override {
    {
      std::unique_lock lock(record_.mutex);
      record_.batches.push_back(shares);
    }
    if (body_) body_(shares);
    for (const Share& share : shares) {
      for (std::int64_t i = 0; i < share.count; ++i) {
        share.job->post(MadePicture{share.first + i, Image(1, 1)});
      }
    }
  }

 private:
  Record& record_;
  std::function<void(const std::vector<Share>&)> body_;
};

std::vector<std::int64_t> pictures_of(Job& job) {
  std::vector<std::int64_t> numbers;
  while (!job.over()) {
    if (const auto event = job.next(100ms))
      numbers.push_back(std::get<MadePicture>(*event).picture);
  }
  job.rethrow();
  return numbers;
}

// A queue whose computing thread is busy until the gate opens, so that what is submitted waits.
struct BusyQueue {
  explicit BusyQueue(const QueueOptions& options) : queue(options) {
    blocker = std::make_shared<FakeJob>("", 1, ignored, [this](const std::vector<Share>&) {
      started.set_value();
      opened.get_future().wait();
    });
    queue.submit(blocker);
    started.get_future().wait();
  }
  void open() { opened.set_value(); }
  std::shared_ptr<FakeJob> submit(const std::string& key, std::int64_t pictures, Record& record) {
    auto job = std::make_shared<FakeJob>(key, pictures, record);
    queue.submit(job);
    return job;
  }

  Record ignored;
  std::promise<void> started, opened;
  std::shared_ptr<FakeJob> blocker;
  JobQueue queue;
};

TEST(JobQueue, WhatWaitsTogetherIsOneBatch) {
  BusyQueue busy({.batch = 16});
  Record record;
  std::vector<std::shared_ptr<FakeJob>> jobs;
  for (const char* key : {"a", "b", "a", "a", "b"}) {
    jobs.push_back(busy.submit(key, 2, record));
  }
  busy.open();
  for (auto& job : jobs) EXPECT_EQ(pictures_of(*job), (std::vector<std::int64_t>{0, 1}));
  ASSERT_EQ(record.batches.size(), 2u);
  EXPECT_EQ(record.batches[0].size(), 3u);
  EXPECT_EQ(record.batches[1].size(), 2u);
}

TEST(JobQueue, JobsWithoutKeyRunAlone) {
  BusyQueue busy({.batch = 16});
  Record record;
  const auto first = busy.submit("", 3, record), second = busy.submit("", 1, record);
  busy.open();
  EXPECT_EQ(pictures_of(*first).size(), 3u);
  EXPECT_EQ(pictures_of(*second).size(), 1u);
  EXPECT_EQ(record.batches.size(), 2u);
}

TEST(JobQueue, ALargeJobLetsOthersPass) {
  BusyQueue busy({.batch = 4});
  Record record;
  const auto large = busy.submit("a", 10, record), other = busy.submit("b", 1, record);
  busy.open();
  EXPECT_EQ(pictures_of(*large), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(pictures_of(*other).size(), 1u);
  ASSERT_EQ(record.batches.size(), 4u);
  EXPECT_EQ(record.batches[1][0].job, other);
  for (const auto& batch : record.batches) {
    std::int64_t sum = 0;
    for (const Share& share : batch) sum += share.count;
    EXPECT_LE(sum, 4);
  }
}

TEST(JobQueue, AFullQueueRefusesAtOnce) {
  BusyQueue busy({.batch = 4, .waiting = 5});
  Record record;
  const auto kept = busy.submit("a", 4, record);
  try {
    busy.submit("a", 2, record);
    FAIL() << "the queue took more than it holds";
  } catch (const HttpError& error) {
    EXPECT_EQ(error.status(), 503);
  }
  // Who goes away leaves room.
  busy.queue.cancel(kept);
  EXPECT_EQ(busy.queue.state().pictures, 0);
  const auto next = busy.submit("a", 5, record);
  busy.open();
  EXPECT_EQ(pictures_of(*next).size(), 5u);
}

TEST(JobQueue, BackgroundJobsStandInNobodysWay) {
  BusyQueue busy({.batch = 4, .waiting = 5});
  Record record;
  std::vector<std::shared_ptr<FakeJob>> behind;
  for (int i = 0; i < 8; ++i) {
    behind.push_back(std::make_shared<FakeJob>("a", 1, record));
    behind.back()->set_background();
    busy.queue.submit(behind.back());
  }
  EXPECT_EQ(busy.queue.state().pictures, 0);
  EXPECT_EQ(busy.queue.state().jobs, 0);
  const auto first = busy.submit("b", 5, record);  // the queue is as good as empty
  EXPECT_EQ(busy.queue.state().pictures, 5);
  busy.open();
  EXPECT_EQ(pictures_of(*first).size(), 5u);
  for (auto& job : behind) EXPECT_EQ(pictures_of(*job).size(), 1u);
  ASSERT_EQ(record.batches.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(record.batches[i][0].job == first, i < 2) << i;
}

TEST(JobQueue, FailuresReachTheirJobsOnly) {
  BusyQueue busy({.batch = 2});
  Record record;
  const auto fail = [](const std::vector<Share>&) { throw DataError("this one is bad"); };
  const auto bad = std::make_shared<FakeJob>("a", 6, record, fail);
  busy.queue.submit(bad);
  const auto good = busy.submit("b", 1, record);
  busy.open();
  EXPECT_THROW(pictures_of(*bad), DataError);
  EXPECT_EQ(pictures_of(*good).size(), 1u);
  EXPECT_EQ(record.batches.size(), 2u);  // the rest of the bad one was given up
}

TEST(JobQueue, ACancelledJobIsSeenWhileItRuns) {
  Record record;
  JobQueue queue({});
  std::promise<void> running;
  bool seen = false;
  auto job = std::make_shared<FakeJob>("a", 1, record, [&](const std::vector<Share>& shares) {
    running.set_value();
    for (int i = 0; i < 2000 && !seen; ++i) {
      seen = all_cancelled(shares);
      std::this_thread::sleep_for(1ms);
    }
  });
  queue.submit(job);
  running.get_future().wait();
  queue.cancel(job);
  pictures_of(*job);
  EXPECT_TRUE(seen);
  EXPECT_EQ(queue.state().cancelled, 1);
}

TEST(JobQueue, StoppingAnswersEverybody) {
  BusyQueue busy({});
  Record record;
  const auto waiting = busy.submit("a", 1, record);
  busy.queue.stop();
  EXPECT_TRUE(busy.blocker->cancelled());
  EXPECT_THROW(pictures_of(*waiting), HttpError);
  EXPECT_THROW(pictures_of(*busy.blocker), HttpError);
  EXPECT_THROW(busy.submit("a", 1, record), HttpError);
  busy.open();
}

TEST(Job, ASlowClientLosesStepPicturesOnly) {
  Record record;
  FakeJob job("a", 1, record);
  for (int i = 0; i < 200; ++i)
    job.post(StepView{.step = i, .tokens = {}, .reliable = {}, .pixels = Image(512, 512)});
  job.post(MadePicture{0, Image(512, 512)});
  job.finish();
  std::int64_t steps = 0, pictures = 0;
  bool made = false;
  while (!job.over()) {
    const auto event = job.next(1ms);
    ASSERT_TRUE(event);
    if (const auto* step = std::get_if<StepView>(&*event)) {
      EXPECT_EQ(step->step, steps++);
      pictures += step->pixels.empty() ? 0 : 1;
    } else {
      made = !std::get<MadePicture>(*event).image.empty();
    }
  }
  EXPECT_EQ(steps, 200);
  EXPECT_GT(pictures, 10);
  EXPECT_LT(pictures, 100);
  EXPECT_TRUE(made);
}

}  // namespace
}  // namespace addp
