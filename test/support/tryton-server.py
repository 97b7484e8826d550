"""
Tryton's server for the tests: /usr/bin/trytond. It ends with the process that started it, however that ends.

With FUELBRIDGE_TRYTON=sharing (the connector kit of `npm run test:long` leaves it unchanged) it saves five costs that prove
nothing here:

- Databases that have the same modules share the classes that Tryton made for the first of them (about a second each).
- A connection to a database file is kept for the next transaction: Tryton opens one per transaction, three of them per
  call, and SQLite reads the whole schema each time (about 4 ms).
- What Tryton caches of a database (rights, rules, translations) is known to its copies, as long as a copy has not
  cleared that cache: each test has a copy of its own, and the first call to it costs a second.
- A posted invoice is not printed: Tryton renders each for its cache, a tenth of all its computing.
- A commit is not waited for until it is on the disk: no test cuts the power of this server.

The configuration is named by TRYTOND_CONFIG: Tryton reads it while its modules are imported.
"""
import ctypes
import os
import runpy
import signal
from collections import defaultdict

from trytond.backend.sqlite.database import Database, SQLiteConnection
from trytond.cache import MemoryCache
from trytond.config import config
from trytond.pool import Pool
from trytond.report import Report
from trytond.transaction import Transaction

init_pool = Pool.init
pools = {}


def shared_pool(self, update=None, **options):
    """Pool.init; a shared lock, so that two first calls do not make the same classes."""
    with self._lock:
        if update or self._pool.get(self.database_name):
            return init_pool(self, update=update, **options)
        cursor = Transaction().connection.cursor()
        cursor.execute("select name from ir_module where state = 'activated'")
        modules = frozenset(name for name, in cursor)
        if modules not in pools:
            init_pool(self, **options)
            pools[modules] = self._pool[self.database_name], self._modules
        self._pool[self.database_name], self._modules = pools[modules]


connect = Database.connect
stop = Transaction.stop
open_connection = SQLiteConnection.__init__
kept = defaultdict(list)
DATABASES = 8
get_cached, set_cached = MemoryCache.get, MemoryCache.set
known = defaultdict(dict)
missing = object()
PR_SET_PDEATHSIG = 1



def file_of(database):
    """A test may put another file in its place: its name and its inode."""
    path = os.path.join(config.get('database', 'path'), database.name + '.sqlite')
    return path, os.stat(path).st_ino


def open_for_any_thread(self, *args, **options):
    """SQLiteConnection.__init__; each call of a client is answered in a thread of its own."""
    open_connection(self, *args, **{**options, 'check_same_thread': False})
    self.execute('pragma synchronous = off')


def connect_again(self):
    """Database.connect"""
    try:
        if self._conn is None:
            self._conn = kept[file_of(self)].pop()
        return self
    except (IndexError, OSError):
        return connect(self)


def stop_and_keep(self, commit=False):
    """Transaction.stop; only the outermost one gives its connection back."""
    database = self.database
    try:
        return stop(self, commit)
    finally:
        if self.database is None and database is not None:
            keep(database)


def keep(database):
    connection, database._conn = database._conn, None
    try:
        if connection is not None and not connection.in_transaction:
            kept[file_of(database)].append(connection)
        while len(kept) > DATABASES:
            for old in kept.pop(next(iter(kept))):
                old.close()
    except OSError:
        connection.close()


def kinship(cache):
    """Where databases with the same classes keep what they know alike; None: this one has cleared this cache once."""
    transaction = Transaction()
    name = transaction.database.name
    if name in cache._timestamp or transaction in cache._reset:
        return None
    return known[cache._name, id(Pool._pool.get(name))]


def get_known(self, key, default=None):
    """MemoryCache.get"""
    found = get_cached(self, key, missing)
    if found is not missing:
        return found
    kin = kinship(self)
    try:
        return default if kin is None else kin.get(self._key(key), default)
    except TypeError:
        return default


def set_known(self, key, value):
    """MemoryCache.set"""
    kin = kinship(self)
    try:
        if kin is not None and self.duration is None:
            kin[self._key(key)] = value
    except TypeError:
        pass
    return set_cached(self, key, value)


def not_rendered(cls, report, report_context):
    """Report.render"""
    return b'rendered'


ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if os.environ['FUELBRIDGE_TRYTON'] == 'sharing':
    Pool.init = shared_pool
    SQLiteConnection.__init__ = open_for_any_thread
    Database.connect = connect_again
    Transaction.stop = stop_and_keep
    MemoryCache.get = get_known
    MemoryCache.set = set_known
    Report.render = classmethod(not_rendered)
runpy.run_path('/usr/bin/trytond', run_name='__main__')
