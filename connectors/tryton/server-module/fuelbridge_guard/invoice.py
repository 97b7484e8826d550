from trytond.model import Unique, fields
from trytond.pool import PoolMeta


class Invoice(metaclass=PoolMeta):
    __name__ = 'account.invoice'

    external_id = fields.Char("External ID", readonly=True,
        help="The fuel platform's id of this invoice.")

    @classmethod
    def __setup__(cls):
        super().__setup__()
        table = cls.__table__()
        # The two sides of one invoice may be companies of one database.
        cls._sql_constraints.append(('external_id_unique',
                Unique(table, table.company, table.type, table.external_id),
                'fuelbridge_guard.msg_external_id_unique'))

    @classmethod
    def copy(cls, invoices, default=None):
        default = {} if default is None else default.copy()
        default.setdefault('external_id', None)
        return super().copy(invoices, default=default)
