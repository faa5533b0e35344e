"""Train and certify: AdaNet and a support vector machine, certified on the points they are trained on."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from adanet_train import certify

X, y = load_breast_cancer(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)

# The scaler stands inside the learner: fitted on all rows beforehand it would break the certificate.
learners = {"AdaNet": "adanet", "SVM": make_pipeline(StandardScaler(), SVC(C=10))}
for name, learner in learners.items():
    certified = certify(learner, X, y, delta=0.05 / len(learners))  # both are quoted: each pays half of delta
    error = (certified.predict(X_test) != y_test).mean()
    print(f"{name}: test error {error:.4f}, {certified}")
