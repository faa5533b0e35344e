"""python tensorflow_adanet.py DATA.npz ROUNDS WIDTH STEPS: the TensorFlow package's AdaNet on X, y, X_test, y_test.

Run by bench_tensorflow in an environment of its own, where it needs nothing of ours. Prints one JSON document: the
accuracy on the test data, the seconds and the CPU seconds of training. The generator of dense subnetworks is that of
the package's own examples.
"""

import json
import sys
import tempfile
import time

import adanet
import numpy as np
import tensorflow as tf
from adanet.examples import simple_dnn

BATCH, RATE, LAMBDA = 100, 1e-3, 1e-4


def main(data, rounds, width, steps):
    with np.load(data) as arrays:
        X, y, X_test, y_test = (arrays[name].astype(np.float32) for name in ("X", "y", "X_test", "y_test"))
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)

    def train():
        sample = tf.data.Dataset.from_tensor_slices(({"x": X}, y[:, None]))
        return sample.shuffle(len(X), seed=0).repeat().batch(BATCH)

    def whole(features, labels):
        return lambda: tf.data.Dataset.from_tensor_slices(({"x": features}, labels[:, None])).batch(1000)

    optimizer = tf.compat.v1.train.AdamOptimizer(RATE)
    with tempfile.TemporaryDirectory() as folder:
        estimator = adanet.Estimator(
            head=tf.estimator.BinaryClassHead(),
            subnetwork_generator=simple_dnn.Generator(
                feature_columns=[tf.feature_column.numeric_column("x", shape=[X.shape[1]])],
                optimizer=optimizer,
                layer_size=width,
                learn_mixture_weights=True,
                seed=0,
            ),
            max_iteration_steps=steps,
            max_iterations=rounds,
            ensemblers=[adanet.ensemble.ComplexityRegularizedEnsembler(optimizer=optimizer, adanet_lambda=LAMBDA)],
            evaluator=adanet.Evaluator(input_fn=whole(X, y)),
            enable_ensemble_summaries=False,
            enable_subnetwork_summaries=False,
            config=tf.estimator.RunConfig(model_dir=folder, tf_random_seed=0, save_summary_steps=10**9),
        )
        start, cpu = time.perf_counter(), time.process_time()
        estimator.train(train, max_steps=rounds * steps)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        accuracy = estimator.evaluate(whole(X_test, y_test))["accuracy"]
    versions = f"adanet {adanet.__version__}, TensorFlow {tf.__version__}"
    print(json.dumps({"accuracy": round(float(accuracy), 4), "seconds": seconds, "cpu": cpu, "versions": versions}))


if __name__ == "__main__":
    main(sys.argv[1], *(int(number) for number in sys.argv[2:]))
