// Preloaded into a real `tatami serve`: a bug that shows itself when the process gets SIGUSR2. `BUG` says which.
const bug = process.env.BUG;

process.on('SIGUSR2', () => {
  setTimeout(() => {
    const error = new Error('a bug', { cause: new TypeError('its cause') });
    if (bug === 'throws') throw error;
    void Promise.reject(error);
  }, 0);
});
