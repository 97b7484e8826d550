from trytond.model import Unique, fields
from trytond.pool import PoolMeta
from trytond.transaction import Transaction


class Move(metaclass=PoolMeta):
    __name__ = 'account.move'

    external_id = fields.Char("External ID", readonly=True,
        help="The fuel platform's id of this payment.")

    @classmethod
    def __setup__(cls):
        super().__setup__()
        table = cls.__table__()
        cls._sql_constraints.append(('external_id_unique',
                Unique(table, table.company, table.external_id),
                'fuelbridge_guard.msg_payment_unique'))

    @classmethod
    def default_external_id(cls):
        # A payment is posted as it is made, and nothing is written on it then.
        return Transaction().context.get('fuelbridge_payment')

    @classmethod
    def copy(cls, moves, default=None):
        default = {} if default is None else default.copy()
        default.setdefault('external_id', None)
        return super().copy(moves, default=default)
