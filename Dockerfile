# The server with all models, on CPUs: docker build -t discoparse-server . && docker run --rm -p 8000:8000 discoparse-server
FROM python:3.12-slim
WORKDIR /app
# The network is compiled for CPUs where there is a compiler.
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY pyproject.toml setup.py constraints.txt README.md LICENSE ./
COPY src src
COPY models models
# PyTorch's builds without CUDA, which are much smaller, are in an index of their own.
RUN pip install --no-cache-dir -c constraints.txt --index-url https://download.pytorch.org/whl/cpu torch
RUN pip install --no-cache-dir -c constraints.txt ".[serve]" ./models/*
RUN useradd --create-home parser
USER parser
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/api/v1/health')"]
CMD ["discoparse", "serve", "--host", "0.0.0.0"]
