"""python tensorflow_images.py DATA.npz ROUNDS STEPS RATE WIDTH,WIDTH: the TensorFlow package's AdaNet over CNNs.

Run by bench_images in an environment of its own, where it needs nothing of ours. The builder has the shape of the
package's own tutorial, with a second convolution: conv-pool-conv-pool-dense, Adam, cosine to 0. Candidates are compared
on the validation points, as ours are. Prints one JSON document: accuracy on the test data, seconds, CPU seconds and
peak memory of training.
"""

import json
import sys
import tempfile
import time

import adanet
import numpy as np
import tensorflow as tf

BATCH, LAMBDA, HIDDEN = 64, 1e-4, 64


class CNN(adanet.subnetwork.Builder):
    def __init__(self, width, steps, rate, classes):
        self.width, self.steps, self.rate, self.classes = width, steps, rate, classes

    @property
    def name(self):
        return f"cnn_{self.width}"

    def build_subnetwork(self, features, logits_dimension, training, iteration_step, summary, previous_ensemble=None):
        x = features["x"]
        # names of their own: those that Keras counts differ from round to round, and then no checkpoint can be restored
        for i, filters in enumerate((self.width, 2 * self.width)):
            x = tf.keras.layers.Conv2D(filters, 3, padding="same", activation="relu", name=f"conv_{i}")(x)
            x = tf.keras.layers.MaxPool2D(2)(x)
        x = tf.keras.layers.Dense(HIDDEN, activation="relu", name="hidden")(tf.keras.layers.Flatten()(x))
        logits = tf.keras.layers.Dense(self.classes, name="logits")(x)
        return adanet.Subnetwork(last_layer=x, logits=logits, complexity=tf.constant(1.0), persisted_tensors={})

    def build_subnetwork_train_op(
        self, subnetwork, loss, var_list, labels, iteration_step, summary, previous_ensemble=None
    ):
        rate = tf.compat.v1.train.cosine_decay(self.rate, iteration_step, self.steps)
        return tf.compat.v1.train.AdamOptimizer(rate).minimize(loss, var_list=var_list)


class Generator(adanet.subnetwork.Generator):
    def __init__(self, builders):
        self.builders = builders

    def generate_candidates(self, previous_ensemble, iteration_number, previous_ensemble_reports, all_reports, config):
        return self.builders


def main(data, rounds, steps, rate, widths):
    with np.load(data) as arrays:
        X, X_valid, X_test = (arrays[name].transpose(0, 2, 3, 1) for name in ("X", "X_valid", "X_test"))
        y, y_valid, y_test = (arrays[name] for name in ("y", "y_valid", "y_test"))
    classes = int(y.max()) + 1
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)

    def train():
        sample = tf.data.Dataset.from_tensor_slices(({"x": X}, y[:, None]))
        return sample.shuffle(len(X), seed=0).repeat().batch(BATCH)

    def whole(images, labels):
        return lambda: tf.data.Dataset.from_tensor_slices(({"x": images}, labels[:, None])).batch(500)

    threads = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    optimizer = tf.compat.v1.train.AdamOptimizer(rate)
    with tempfile.TemporaryDirectory() as folder:
        estimator = adanet.Estimator(
            head=tf.estimator.MultiClassHead(classes),
            subnetwork_generator=Generator([CNN(width, steps, rate, classes) for width in widths]),
            max_iteration_steps=steps,
            max_iterations=rounds,
            ensemblers=[adanet.ensemble.ComplexityRegularizedEnsembler(optimizer=optimizer, adanet_lambda=LAMBDA)],
            evaluator=adanet.Evaluator(input_fn=whole(X_valid, y_valid)),
            enable_ensemble_summaries=False,
            enable_subnetwork_summaries=False,
            config=tf.estimator.RunConfig(
                model_dir=folder, tf_random_seed=0, save_summary_steps=10**9, session_config=threads
            ),
        )
        start, cpu = time.perf_counter(), time.process_time()
        estimator.train(train, max_steps=rounds * steps)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        with open("/proc/self/status") as status:
            peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
        accuracy = estimator.evaluate(whole(X_test, y_test))["accuracy"]
    versions = f"adanet {adanet.__version__}, TensorFlow {tf.__version__}"
    result = {"accuracy": round(float(accuracy), 4), "seconds": round(seconds, 1), "cpu": round(cpu, 1)}
    print(json.dumps(result | {"peak_mb": round(peak / 1024), "versions": versions}))


if __name__ == "__main__":
    data, rounds, steps, rate, widths = sys.argv[1:]
    main(data, int(rounds), int(steps), float(rate), [int(width) for width in widths.split(",")])
