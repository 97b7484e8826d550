"""
Tryton's server for the tests: the script trytond that is named by the only argument. It ends with the process that
started it, however that ends.

With FUELBRIDGE_TRYTON=sharing (`npm run test:long` also runs the connector kit without) it saves eight
costs that prove nothing here:

- Databases that have the same modules share the classes that Tryton made for the first of them (about a second each).
- A connection to a database file is kept for the next transaction: Tryton opens one per transaction, three of them per
  call, and SQLite reads the whole schema each time (about 4 ms).
- What Tryton caches of a database (rights, rules, translations) is known to its copies, as long as a copy has not
  cleared that cache: each test has a copy of its own, and the first call to it costs a second.
- A posted invoice is not printed: Tryton renders each for its cache, and that takes a sixth of posting it.
- The collector of garbage leaves alone what is there once the modules are loaded, and looks at the rest less often (a
  tenth of all computing).
- A connection keeps more of its prepared statements than the 128 of Python's module: one post makes 300.
- A commit is not waited for until it is on the disk: no test cuts the power of this server.
- A session's time stamp is renewed after a tenth of its time, as Tryton 8.0 does, and not after each call.

Two things of Tryton 8.0 are undone, with or without sharing, so that tests can copy the file of a database as with 6.0:
it serves databases that were there at its start, and it keeps a log of writes beside the file.

The configuration is named by TRYTOND_CONFIG: Tryton reads it while its modules are imported.
"""
import ctypes
import gc
import os
import runpy
import signal
import sys
import time
from collections import defaultdict

from trytond import security
from trytond.backend.sqlite.database import Database, SQLiteConnection
from trytond.cache import MemoryCache
from trytond.pool import Pool
from trytond.transaction import Transaction
try:
    from trytond.config import config
except ImportError:  # since 7.6 the module itself
    from trytond import config

init_pool = Pool.init
pools = {}


def shared_pool(self, update=None, **options):
    """Pool.init; a shared lock, so that two first calls do not make the same classes."""
    with self._lock:
        if update or classes_of(self):
            return init_pool(self, update=update, **options)
        cursor = Transaction().connection.cursor()
        cursor.execute("select name from ir_module where state = 'activated'")
        modules = frozenset(name for name, in cursor)
        if modules not in pools:
            init_pool(self, **options)
            pools[modules] = classes_of(self), self._modules
            gc.freeze()
            gc.set_threshold(20_000, 20, 100)
        share_classes(self, *pools[modules])
        self.get('account.invoice').print_invoice = not_printed


def classes_of(pool):
    return all_classes.get(pool.database_name)


def share_classes(pool, classes, modules):
    all_classes[pool.database_name] = classes
    pool._modules = modules
    if hasattr(Pool, '_pools'):
        pool._pool = classes
        Pool._pool_modules[pool.database_name] = modules
        Pool._pool_instances.clear()
        Pool._pool_instances.add(pool)
        pool.ready = True


def initialised(cls):
    """Pool.database_list of 8.0: it lists what a first look has only asked for, and then nobody initialises it."""
    with cls._lock:
        return [name for name, classes in cls._pools.items() if classes]


def list_anew(self, hostname=None):
    """Database.list of 8.0, which keeps what it has seen for minutes."""
    type(self)._list_cache.clear()
    return list_databases(self, hostname)


list_databases = Database.list
# By database: 6.0 calls them _pool.
all_classes = getattr(Pool, '_pools', Pool.__dict__.get('_pool'))


connect = Database.connect
stop = Transaction.stop
open_connection = SQLiteConnection.__init__
execute = SQLiteConnection.execute
kept = defaultdict(list)
DATABASES = 8
STATEMENTS = 1000
get_cached, set_cached = MemoryCache.get, MemoryCache.set
known = defaultdict(dict)
missing = object()
reset = security.reset
renewed = {}
PR_SET_PDEATHSIG = 1



def file_of(database):
    """A test may put another file in its place: its name and its inode."""
    path = os.path.join(config.get('database', 'path'), database.name + '.sqlite')
    return path, os.stat(path).st_ino


def open_for_any_thread(self, *args, **options):
    """SQLiteConnection.__init__; each call of a client is answered in a thread of its own."""
    open_connection(self, *args, **{**options, 'check_same_thread': False, 'cached_statements': STATEMENTS})
    self.execute('pragma synchronous = off')


def execute_without_log(self, sql, *parameters):
    """SQLiteConnection.execute"""
    if sql == 'PRAGMA journal_mode = WAL':
        return None
    return execute(self, sql, *parameters)


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
    """Where copies of the same file keep what they know alike; None: this one has cleared this cache once."""
    transaction = Transaction()
    name = transaction.database.name
    if name in cache._timestamp or transaction in cache._reset:
        return None
    return known[cache._name, id(all_classes.get(name)), name.rpartition('_of_')[2]]


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


def reset_rarely(database, session, context):
    """security.reset"""
    now = time.monotonic()
    if session not in renewed or now - renewed[session] > config.getint('session', 'timeout') / 10:
        renewed[session] = now
        reset(database, session, context)


def not_printed(self):
    """Invoice.print_invoice"""


ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if hasattr(Pool, '_pools'):
    import pwdlib
    from pwdlib.hashers.argon2 import Argon2Hasher
    from trytond.res import user
    # As [passlib] in the configuration of 6.0: its own takes a third of a second of computing for each login.
    cheap = Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1)
    user.PASSWORD_HASH = pwdlib.PasswordHash([cheap])
    Pool.database_list = classmethod(initialised)
    Database.list = list_anew
    SQLiteConnection.execute = execute_without_log
if os.environ['FUELBRIDGE_TRYTON'] == 'sharing':
    Pool.init = shared_pool
    SQLiteConnection.__init__ = open_for_any_thread
    Database.connect = connect_again
    Transaction.stop = stop_and_keep
    MemoryCache.get = get_known
    MemoryCache.set = set_known
    security.reset = reset_rarely
trytond = sys.argv.pop(1)
runpy.run_path(trytond, run_name='__main__')
