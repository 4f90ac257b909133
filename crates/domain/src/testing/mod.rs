//! Mocks, fakes, generators and contract suites, for tests of this project and of others.
